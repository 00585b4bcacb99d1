import { createHash } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import type { KafkaSourceOptions } from '../../../../src/feed/kafka/kafka-source.ts';
import { FeedRefused } from '../../../../src/feed/source.ts';
import { keepingLogger, readingOptions, startReading } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { createTopic, type TestTopic } from '../../../support/kafka/topic.ts';

const address = inject('kafka').addresses.plain;

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Reads the whole topic; then what a stored position after its first `count` messages looks like. */
async function storedAfter(topic: TestTopic, count: number): Promise<KafkaSourceOptions['stored']> {
  await using reading = startReading(readingOptions(address, topic));
  await reading.until('read', () => reading.messages.length >= count);
  const { offset, bytes } = reading.messages[count - 1]!;
  const sha256 = hash(Buffer.from(bytes!).toString());
  const lanes = new Map([['0', { start: '0', cursor: String(offset + 1), sha256 }]]);
  return { identity: reading.start!.identity, lanes };
}

describe('a position that the topic does not continue', () => {
  async function refusal(topic: TestTopic, stored: KafkaSourceOptions['stored']): Promise<string> {
    await using reading = startReading(readingOptions(address, topic, { stored }));
    const failure = await reading.failure();
    expect(failure).toBeInstanceOf(FeedRefused);
    expect(reading.messages).toEqual([]);
    return (failure as Error).message;
  }

  it('is refused where retention removed what comes next', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(10));
    const stored = await storedAfter(topic, 5);
    await topic.cut(0, 8);
    expect(await refusal(topic, stored)).toMatch(/continues at offset 5 .* removed everything before 8/);
  });

  it('continues, and says so, where only the last applied message is gone', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(10));
    const stored = await storedAfter(topic, 5);
    await topic.cut(0, 5);
    const logger = keepingLogger();
    await using reading = startReading(readingOptions(address, topic, { stored, logger }));
    await reading.until('the rest read', () => reading.messages.length === 5);
    await topic.send(emptyRows(1, 0, 10));
    await reading.until('one more', () => reading.messages.length === 6);
    expect(reading.messages[0]!.offset).toBe(5);
    const warning = 'the last applied message is no longer in the topic, but what follows it is: continuing';
    expect(logger.lines.filter((line) => line.level === 'warn')).toEqual([{ level: 'warn', message: warning }]);
  });

  it('is refused where the topic was recreated, shorter or with other messages', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(10));
    const stored = await storedAfter(topic, 5);
    await topic.recreate();
    await topic.send(emptyRows(3));
    expect(await refusal(topic, stored)).toMatch(/ends at offset 3.* up to 5/);
    await topic.send(emptyRows(10, 0, 50));
    expect(await refusal(topic, stored)).toMatch(/another message at offset 4/);
  });

  it('is refused on another topic, and on another cluster', async () => {
    const [topic, other] = [await createTopic(address), await createTopic(address)];
    await topic.send(emptyRows(2));
    const stored = await storedAfter(topic, 1);
    expect(await refusal(other, stored)).toContain(`built from topic ${topic.name}`);
    const elsewhere = stored.identity!.replace(/"clusterId":"[^"]*"/, '"clusterId":"elsewhere"');
    expect(await refusal(topic, { ...stored, identity: elsewhere })).toContain('cluster elsewhere');
  });

  it('is refused where the topic is recreated under a reader', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(10));
    await using first = startReading(readingOptions(address, topic));
    await first.until('all read', () => first.messages.length === 10);
    await topic.recreate();
    await topic.send(emptyRows(2));
    expect(String(await first.failure())).toMatch(/FeedRefused.*created again/);
    expect(first.status().stopped).toMatch(/created again/);
  });

  it('is refused where the topic is recreated under a reader, and soon as long as it was', async () => {
    const topic = await createTopic(address);
    await using first = startReading(readingOptions(address, topic));
    // A producer that knows the topic already writes to the new one without delay.
    await topic.produce(async (send) => {
      await send(emptyRows(3));
      await first.until('all read', () => first.messages.length === 3);
      await topic.recreate();
      await send(emptyRows(20, 0, 50));
    });
    expect(String(await first.failure())).toMatch(/FeedRefused.*created again/);
    expect(first.messages).toHaveLength(3);
  });
});

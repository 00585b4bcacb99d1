import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { identityText } from '../../../../src/feed/kafka/kafka-positions.ts';
import type { KafkaSourceOptions } from '../../../../src/feed/kafka/kafka-source.ts';
import { FeedRefused } from '../../../../src/feed/source.ts';
import { keepingLogger, readingOptions, startReading } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';

const address = inject('kafka').addresses.plain;
const CUT = join(import.meta.dirname, '../../../support/kafka/cut.ts');
type Stored = KafkaSourceOptions['stored'];

/** What is stored after the first `count` messages of a topic that begins with these rows. */
async function storedAfter(topic: TestTopic, count: number, rows: readonly Row[]): Promise<Stored> {
  const { clusterId } = await topic.admin((admin) => admin.describeCluster());
  const sha256 = count === 0 ? null : hash('sha256', rows[count - 1]!.value!, 'buffer');
  const lanes = new Map([['0', { start: '0', resumeToken: String(count), sha256 }]]);
  return { identity: identityText({ clusterId, topic: topic.name }), lanes };
}

async function refusal(topic: TestTopic, stored: Stored): Promise<string> {
  await using reading = startReading(readingOptions(address, topic, { stored }));
  const failure = await reading.failure();
  expect(failure).toBeInstanceOf(FeedRefused);
  expect(reading.messages).toEqual([]);
  return (failure as Error).message;
}

describe('a topic of which five messages were applied', () => {
  const [five, ten] = [emptyRows(5), emptyRows(10)];
  it.each<{ name: string; isTransaction?: true; change: (topic: TestTopic) => Promise<void>; text: RegExp }>([
    {
      name: 'has lost what comes next, which is the end of a transaction',
      isTransaction: true,
      change: (topic) => topic.cut(0, 6),
      text: /removed everything before 6/,
    },
    {
      name: 'was recreated with other messages',
      change: async (topic) => {
        await topic.recreate();
        await topic.send(emptyRows(10, 0, 50));
      },
      text: /another message at offset 4/,
    },
    {
      name: 'was recreated, and a transaction ends where the last one was',
      change: async (topic) => {
        await topic.recreate();
        await topic.sendTransaction(emptyRows(4), 'commit');
      },
      text: /has no message at offset 4, .*only ends of transactions.*created again/,
    },
    {
      name: 'was recreated, and a transaction ends where the last one was, with messages behind it',
      change: async (topic) => {
        await topic.recreate();
        await topic.sendTransaction(emptyRows(4), 'commit');
        await topic.send(five);
      },
      text: /has no message at offset 4, .*the next one is at offset 5.*created again/,
    },
  ])('is refused where it $name', async ({ isTransaction = false, change, text }) => {
    const topic = await createTopic(address);
    await (isTransaction ? topic.sendTransaction(five, 'commit') : topic.send(five));
    const stored = await storedAfter(topic, 5, ten);
    await change(topic);
    expect(await refusal(topic, stored)).toMatch(text);
  });

  it('is refused where it is another topic, or of another cluster', async () => {
    const [topic, other] = [await createTopic(address), await createTopic(address)];
    await topic.send(five);
    const stored = await storedAfter(topic, 5, ten);
    expect(await refusal(other, stored)).toContain(`built from topic ${topic.name}`);
    const elsewhere = stored.identity!.replace(/"clusterId":"[^"]*"/, '"clusterId":"elsewhere"');
    expect(await refusal(topic, { ...stored, identity: elsewhere })).toContain('cluster elsewhere');
  });

  it('is read on where only the last of them is gone, and says so', async () => {
    const topic = await createTopic(address);
    await topic.send(ten);
    const stored = await storedAfter(topic, 5, ten);
    await topic.cut(0, 5);
    const logger = keepingLogger();
    await using reading = startReading(readingOptions(address, topic, { stored, logger }));
    await reading.until('the rest read', () => reading.messages.length === 5);
    expect(reading.messages[0]!.offset).toBe(5);
    const message = 'the last applied message is no longer in the topic, but what follows it is: continuing';
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([{ level: 'warn', message }]);
  });

  it('is read on behind the ends of transactions, and what they aborted', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(five, 'commit');
    const stored = await storedAfter(topic, 5, ten);
    await topic.sendTransaction(emptyRows(3, 0, 5), 'abort');
    await topic.sendTransaction(emptyRows(2, 0, 8), 'commit');
    await using reading = startReading(readingOptions(address, topic, { stored }));
    await reading.until('read', () => reading.messages.length === 2);
    expect(reading.messages.map(({ offset }) => offset)).toEqual([10, 11]);
  });

  it('is read on from what is stored, whatever Kafka remembers', async () => {
    const topic = await createTopic(address);
    await topic.send(ten);
    const stored = await storedAfter(topic, 5, ten);
    const options = readingOptions(address, topic, { stored });
    const partitions = [{ partition: 0, offset: '8' }];
    await topic.admin((admin) => admin.setOffsets({ groupId: options.group, topic: topic.name, partitions }));
    await using reading = startReading(options);
    await reading.until('the rest read', () => reading.messages.length === 5);
    expect(reading.messages[0]!.offset).toBe(5);
  });
});

describe('a topic that changes under its reader', () => {
  it.each([
    { applied: 50, cut: 80, goesOn: false },
    { applied: 0, cut: 80, goesOn: false },
    { applied: 50, cut: 50, goesOn: true },
  ])(
    'loses what is before $cut between the first look and the first fetch, with $applied applied',
    async ({ applied, cut, goesOn }) => {
      const topic = await createTopic(address);
      await topic.send(emptyRows(100));
      const stored = await storedAfter(topic, applied, emptyRows(100));
      let isCut = false;
      const quiet = keepingLogger();
      const info = (_: object, message: string): void => {
        if (message !== 'reading the topic' || isCut) return;
        isCut = true;
        execFileSync(process.execPath, [CUT, address, topic.name, String(cut)]);
      };
      await using reading = startReading(readingOptions(address, topic, { stored, logger: { ...quiet, info } }));
      if (goesOn) await reading.until('read', () => reading.messages.length === 50);
      else expect(String(await reading.failure())).toMatch(new RegExp(`FeedRefused.*removed everything before ${cut}`));
      expect(reading.messages[0]?.offset).toBe(goesOn ? applied : undefined);
    },
  );

  it.each([2, 20])('is recreated with %i messages: it is refused', async (count) => {
    const topic = await createTopic(address);
    await using first = startReading(readingOptions(address, topic));
    // A producer that knows the topic already writes to the new one without delay.
    await topic.produce(async (send) => {
      await send(emptyRows(3));
      await first.until('all read', () => first.messages.length === 3);
      await topic.recreate();
      await send(emptyRows(count, 0, 50));
    });
    expect(String(await first.failure())).toMatch(/FeedRefused.*created again/);
    expect(first.messages).toHaveLength(3);
    expect(first.status().stopped).toMatch(/created again/);
  });
});

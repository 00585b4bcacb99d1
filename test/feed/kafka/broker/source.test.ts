import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { kafkajs } from '../../../../src/feed/kafka/library.ts';
import { MESSAGE_BYTES_MAX } from '../../../../src/feed/kafka/record.ts';
import type { KafkaSourceOptions } from '../../../../src/feed/kafka/source.ts';
import { FeedRefused } from '../../../../src/feed/source.ts';
import { keepingLogger, type Reading, startReading } from '../../../support/kafka/reading.ts';
import { createTopic, plainConnection, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';

const address = inject('kafka').addresses.plain;

const updates = (count: number, partition = 0, from = 0): Row[] =>
  Array.from({ length: count }, (_, n) => ({ partition, value: emptyUpdate('s', from + n) }));

function optionsFor(topic: TestTopic, changes: Partial<KafkaSourceOptions> = {}) {
  return {
    connection: plainConnection(address),
    topic: topic.name,
    group: `g-${randomUUID()}`,
    partitionIdleMs: null,
    migrationId: 0,
    stored: { identity: null, lanes: new Map() },
    ...changes,
  };
}

const texts = (reading: Reading): (string | null)[] =>
  reading.messages.map(({ bytes }) => bytes && Buffer.from(bytes).toString());
const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Reads the whole topic; then what a stored position behind its first `count` messages looks like. */
async function storedAfter(topic: TestTopic, count: number): Promise<KafkaSourceOptions['stored']> {
  await using reading = startReading(optionsFor(topic));
  await reading.until('read', () => reading.messages.length >= count);
  const { offset, bytes } = reading.messages[count - 1]!;
  const sha256 = hash(Buffer.from(bytes!).toString());
  const lanes = new Map([['0', { start: '0', cursor: String(offset + 1), sha256 }]]);
  return { identity: reading.source.start!()!.identity, lanes };
}

describe('a topic of one partition', () => {
  it('is read in order from its start, and from a stored position on', async () => {
    const topic = await createTopic(address);
    const rows = updates(500);
    await topic.send(rows);
    await using reading = startReading(optionsFor(topic));
    await reading.until('all read', () => reading.messages.length === 500);
    expect(texts(reading)).toEqual(rows.map((row) => row.value));
    expect(reading.messages.map((message) => message.offset)).toEqual(rows.map((_, n) => n));

    const lanes = new Map([['0', { start: '0', cursor: '400', sha256: hash(rows[399]!.value!) }]]);
    await using again = startReading(
      optionsFor(topic, { stored: { identity: reading.source.start!()!.identity, lanes } }),
    );
    await again.until('the rest read', () => again.messages.length === 100);
    expect(again.messages[0]!.offset).toBe(400);
    await again.until('caught up', () => again.status().caughtUpAt !== null);
    expect(again.status()).toMatchObject({ stopped: null, partitions: [{ nextOffset: 500, endOffset: 500, lag: 0 }] });
  });

  it.each([
    ['gzip', kafkajs.CompressionTypes.GZIP],
    ['snappy', kafkajs.CompressionTypes.Snappy],
    ['lz4', kafkajs.CompressionTypes.LZ4],
    ['zstd', kafkajs.CompressionTypes.ZSTD],
  ])('is read whether we or the broker compressed it with %s', async (name, compression) => {
    const [ours, brokers] = [
      await createTopic(address),
      await createTopic(address, { config: { 'compression.type': name } }),
    ];
    const rows = updates(200);
    await ours.send(rows, compression);
    await brokers.send(rows);
    for (const topic of [ours, brokers]) {
      await using reading = startReading(optionsFor(topic));
      await reading.until('all read', () => reading.messages.length === 200);
      expect(texts(reading)).toEqual(rows.map((row) => row.value));
    }
  });

  it('hands a tombstone over as a null message', async () => {
    const topic = await createTopic(address);
    await topic.send([...updates(1), { partition: 0, value: null }, ...updates(1, 0, 1)]);
    await using reading = startReading(optionsFor(topic));
    await reading.until('all read', () => reading.messages.length === 3);
    expect(reading.messages[1]).toMatchObject({ offset: 1, bytes: null });
  });

  it('keeps the start, length and hash of a message above the limit', async () => {
    const topic = await createTopic(address, { config: { 'max.message.bytes': '67108864' } });
    const long = `{"update_id": "${'x'.repeat(MESSAGE_BYTES_MAX)}"}`;
    const withinLimit = `{"x": "${'x'.repeat(MESSAGE_BYTES_MAX - 9)}"}`;
    await topic.send([{ partition: 0, value: long }]);
    await topic.send([{ partition: 0, value: withinLimit }, ...updates(1)]);
    await using reading = startReading(optionsFor(topic));
    await reading.until('all read', () => reading.messages.length === 3);
    const [first, second] = reading.messages;
    expect(first!.overlong).toEqual({ length: long.length, sha256: hash(long).toString('hex') });
    expect(first!.bytes).toHaveLength(64 * 1024);
    expect(second!.overlong).toBeUndefined();
  });

  it('hands over committed transactions only, and is at its end behind their control records', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(updates(3), 'commit');
    await topic.sendTransaction(updates(3, 0, 100), 'abort');
    await topic.sendTransaction(updates(3, 0, 3), 'commit');
    await topic.sendTransaction(updates(2, 0, 200), 'abort');
    await using reading = startReading(optionsFor(topic));
    await reading.until('all read', () => reading.messages.length >= 6);
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
    expect(texts(reading)).toEqual(updates(6).map((row) => row.value));
    expect(reading.status().partitions).toMatchObject([{ nextOffset: 15, endOffset: 15, lag: 0 }]);
  });

  it('leaves out what was aborted, in whatever order transactions end and whatever the keys are', async () => {
    const topic = await createTopic(address);
    const [early, late] = [await topic.beginTransaction(), await topic.beginTransaction()];
    await early.send(updates(2, 0, 100));
    await late.send(updates(2, 0, 200), Buffer.from([0, 0, 0, 0]));
    await early.send(updates(1, 0, 102));
    await late.abort();
    await early.abort();
    await topic.send(updates(3));
    await using reading = startReading(optionsFor(topic));
    await reading.until('all read', () => reading.messages.length >= 3);
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
    expect(texts(reading)).toEqual(updates(3).map((row) => row.value));
  });

  it('is read on while it is written to, message by message', async () => {
    const topic = await createTopic(address);
    await using reading = startReading(optionsFor(topic));
    const until = Date.now() + 4_000;
    let sent = 0;
    await topic.produce(async (send) => {
      while (Date.now() < until) await send(updates(1, 0, sent++));
    });
    await reading.until('all read', () => reading.messages.length === sent);
    expect(sent).toBeGreaterThan(100);
  });

  it('tells Kafka what was stored, as a courtesy', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(5));
    const options = optionsFor(topic);
    await using reading = startReading(options);
    await reading.until('all read', () => reading.messages.length === 5);
    const committed = (): Promise<string | undefined> =>
      topic.admin(async (admin) => {
        const [offsets] = await admin.fetchOffsets({ groupId: options.group, topics: [topic.name] });
        return offsets?.partitions[0]?.offset;
      });
    await expect.poll(committed, { timeout: 10_000 }).toBe('5');
  });
});

describe('a position that the topic does not continue', () => {
  async function refusal(topic: TestTopic, stored: KafkaSourceOptions['stored']): Promise<string> {
    await using reading = startReading(optionsFor(topic, { stored }));
    const failure = await reading.failure();
    expect(failure).toBeInstanceOf(FeedRefused);
    expect(reading.messages).toEqual([]);
    return (failure as Error).message;
  }

  it('is refused where retention removed what comes next', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(10));
    const stored = await storedAfter(topic, 5);
    await topic.cut(0, 8);
    expect(await refusal(topic, stored)).toMatch(/goes on at offset 5 .* removed everything before 8/);
  });

  it('goes on, and says so, where only the last applied message is gone', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(10));
    const stored = await storedAfter(topic, 5);
    await topic.cut(0, 5);
    const logger = keepingLogger();
    await using reading = startReading(optionsFor(topic, { stored, logger }));
    await reading.until('the rest read', () => reading.messages.length === 5);
    await topic.send(updates(1, 0, 10));
    await reading.until('one more', () => reading.messages.length === 6);
    expect(reading.messages[0]!.offset).toBe(5);
    const warning = 'the last applied message is no longer in the topic, what follows it is: going on';
    expect(logger.lines.filter((line) => line.level === 'warn')).toEqual([{ level: 'warn', message: warning }]);
  });

  it('is refused where the topic was made anew, shorter or with other messages', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(10));
    const stored = await storedAfter(topic, 5);
    await topic.recreate();
    await topic.send(updates(3));
    expect(await refusal(topic, stored)).toMatch(/ends at offset 3.* up to 5/);
    await topic.send(updates(10, 0, 50));
    expect(await refusal(topic, stored)).toMatch(/another message at offset 4/);
  });

  it('is refused on another topic, and on another cluster', async () => {
    const [topic, other] = [await createTopic(address), await createTopic(address)];
    await topic.send(updates(2));
    const stored = await storedAfter(topic, 1);
    expect(await refusal(other, stored)).toContain(`built from topic ${topic.name}`);
    const elsewhere = stored.identity!.replace(/"clusterId":"[^"]*"/, '"clusterId":"elsewhere"');
    expect(await refusal(topic, { ...stored, identity: elsewhere })).toContain('cluster elsewhere');
  });

  it('is refused where the topic is made anew under a reader', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(10));
    await using first = startReading(optionsFor(topic));
    await first.until('all read', () => first.messages.length === 10);
    await topic.recreate();
    await topic.send(updates(2));
    expect(String(await first.failure())).toMatch(/FeedRefused.*made anew/);
    expect(first.status().stopped).toMatch(/made anew/);
  });

  it('is refused where the topic is made anew under a reader, and soon as long as it was', async () => {
    const topic = await createTopic(address);
    await using first = startReading(optionsFor(topic));
    // A producer that knows the topic already writes to the new one without delay.
    await topic.produce(async (send) => {
      await send(updates(3));
      await first.until('all read', () => first.messages.length === 3);
      await topic.recreate();
      await send(updates(20, 0, 50));
    });
    expect(String(await first.failure())).toMatch(/FeedRefused.*made anew/);
    expect(first.messages).toHaveLength(3);
  });
});

describe('a topic of several partitions', () => {
  const synchronizers = (partitions: number, seconds: number): Row[] =>
    Array.from({ length: seconds }, (_, second) => second).flatMap((second) =>
      Array.from({ length: partitions }, (_, partition) => ({
        partition,
        value: emptyUpdate(`s${partition}`, second * partitions + ((partition * 5) % partitions)),
      })),
    );
  const times = (reading: Reading): string[] =>
    texts(reading).map((text) => (JSON.parse(text!) as { record_time: string }).record_time);

  it.each([3, 12])('of %i is read in the order of record times, but for what must wait', async (partitions) => {
    const topic = await createTopic(address, { partitions });
    const rows = synchronizers(partitions, 50);
    await topic.send(rows);
    await using reading = startReading(optionsFor(topic));
    await reading.until('all read that can be', () => reading.messages.length > partitions * 49);
    await reading.until('held', () => reading.status().holding.length > 0);
    const read = times(reading);
    expect(read).toEqual(read.toSorted());
    expect(read.length).toBeLessThan(partitions * 50);
  });

  it('holds everything while a partition is empty, says which, and passes it over after the time given', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    await topic.send([...updates(5, 0), ...updates(5, 2, 10)]);
    await using holding = startReading(optionsFor(topic));
    await holding.until('held', () => holding.status().holding.length > 0);
    expect(holding.status().holding).toEqual([
      'partition 1 is at its end and holds the others until it shows a later message',
    ]);
    expect(holding.messages).toEqual([]);
    expect(holding.status().caughtUpAt).toBeNull();

    await using passing = startReading(optionsFor(topic, { partitionIdleMs: 1_500 }));
    await passing.until('passed over', () => passing.messages.length === 10);
    await passing.until('caught up', () => passing.status().caughtUpAt !== null);
    expect(passing.status().partitions.map((partition) => partition.passedOver)).toEqual([true, true, true]);
    await topic.send(updates(1, 1, 3));
    await passing.until('the late one read', () => passing.messages.length === 11);
  });

  it('may get more partitions while it is read', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(3));
    await using reading = startReading(optionsFor(topic, { partitionIdleMs: 1 }));
    await reading.until('read', () => reading.messages.length === 3);
    await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 2 }] }));
    const partitions = (): Promise<number> =>
      topic.admin(async (admin) => (await admin.fetchTopicOffsets(topic.name)).length);
    await expect.poll(partitions).toBe(2);
    await topic.send([...updates(2, 1, 50), ...updates(2, 0, 70)]);
    await reading.until('all read', () => reading.messages.length === 7);
    expect(reading.messages.map(({ lane, offset }) => `${lane}@${offset}`).toSorted()).toEqual([
      '0@0',
      '0@1',
      '0@2',
      '0@3',
      '0@4',
      '1@0',
      '1@1',
    ]);
  });

  it('is applied only while all of it is assigned to this member', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    const options = optionsFor(topic, { partitionIdleMs: 1 });
    await topic.send(updates(3));
    await using first = startReading(options);
    await first.until('read', () => first.messages.length === 3);
    const second = startReading(options);
    await first.until('stopped', () => /another member/.test(first.status().stopped ?? ''));
    await second.until('stopped', () => /another member/.test(second.status().stopped ?? ''));
    await topic.send(updates(3, 0, 3));
    await second[Symbol.asyncDispose]();
    await first.until('all read', () => first.messages.length === 6);
    expect(second.messages).toEqual([]);
    expect(texts(first)).toEqual(updates(6).map((row) => row.value));
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { kafkajs } from '../../../../src/feed/kafka/kafkajs.ts';
import { LINE_BYTES_MAX } from '../../../../src/feed/limits.ts';
import { readingOptions, startReading, textsOf } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { createTopic } from '../../../support/kafka/topic.ts';

const address = inject('kafka').addresses.plain;

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('a topic of one partition', () => {
  it('is read in order from its start, and from a stored position on', async () => {
    const topic = await createTopic(address);
    const rows = emptyRows(500);
    await topic.send(rows);
    await using reading = startReading(readingOptions(address, topic));
    await reading.until('all read', () => reading.messages.length === 500);
    expect(textsOf(reading)).toEqual(rows.map((row) => row.value));
    expect(reading.messages.map((message) => message.offset)).toEqual(rows.map((_, n) => n));

    const lanes = new Map([['0', { start: '0', cursor: '400', sha256: hash(rows[399]!.value!) }]]);
    await using again = startReading(
      readingOptions(address, topic, { stored: { identity: reading.start!.identity, lanes } }),
    );
    await again.until('the rest read', () => again.messages.length === 100);
    expect(again.messages[0]!.offset).toBe(400);
    await again.until('caught up', () => again.status().caughtUpAt !== null);
    expect(again.status()).toMatchObject({ stopped: null, partitions: [{ nextOffset: 500, endOffset: 500 }] });
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
    const rows = emptyRows(200);
    await ours.send(rows, compression);
    await brokers.send(rows);
    for (const topic of [ours, brokers]) {
      await using reading = startReading(readingOptions(address, topic));
      await reading.until('all read', () => reading.messages.length === 200);
      expect(textsOf(reading)).toEqual(rows.map((row) => row.value));
    }
  });

  it('hands a tombstone over as a null message', async () => {
    const topic = await createTopic(address);
    await topic.send([...emptyRows(1), { partition: 0, value: null }, ...emptyRows(1, 0, 1)]);
    await using reading = startReading(readingOptions(address, topic));
    await reading.until('all read', () => reading.messages.length === 3);
    expect(reading.messages[1]).toMatchObject({ offset: 1, bytes: null });
  });

  it('keeps the start, length and hash of a message above the limit', async () => {
    const topic = await createTopic(address, { config: { 'max.message.bytes': '67108864' } });
    const long = `{"update_id": "${'x'.repeat(LINE_BYTES_MAX)}"}`;
    const withinLimit = `{"x": "${'x'.repeat(LINE_BYTES_MAX - 9)}"}`;
    await topic.send([{ partition: 0, value: long }]);
    await topic.send([{ partition: 0, value: withinLimit }, ...emptyRows(1)]);
    await using reading = startReading(readingOptions(address, topic));
    await reading.until('all read', () => reading.messages.length === 3);
    const [first, second] = reading.messages;
    expect(first!.overlong).toEqual({ length: long.length, sha256: hash(long).toString('hex') });
    expect(first!.bytes).toHaveLength(64 * 1024);
    expect(second!.overlong).toBeUndefined();
  });

  it('hands over committed transactions only, and is at its end past their control records', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(emptyRows(3), 'commit');
    await topic.sendTransaction(emptyRows(3, 0, 100), 'abort');
    await topic.sendTransaction(emptyRows(3, 0, 3), 'commit');
    await topic.sendTransaction(emptyRows(2, 0, 200), 'abort');
    await using reading = startReading(readingOptions(address, topic));
    await reading.until('all read', () => reading.messages.length >= 6);
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
    expect(textsOf(reading)).toEqual(emptyRows(6).map((row) => row.value));
    expect(reading.status().partitions).toMatchObject([{ nextOffset: 15, endOffset: 15 }]);
  });

  it('leaves out what was aborted, in whatever order transactions end and whatever the keys are', async () => {
    const topic = await createTopic(address);
    const [early, late] = [await topic.beginTransaction(), await topic.beginTransaction()];
    await early.send(emptyRows(2, 0, 100));
    await late.send(emptyRows(2, 0, 200), Buffer.from([0, 0, 0, 0]));
    await early.send(emptyRows(1, 0, 102));
    await late.abort();
    await early.abort();
    await topic.send(emptyRows(3));
    await using reading = startReading(readingOptions(address, topic));
    await reading.until('all read', () => reading.messages.length >= 3);
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
    expect(textsOf(reading)).toEqual(emptyRows(3).map((row) => row.value));
  });

  it('is read on while it is written to, message by message', async () => {
    const topic = await createTopic(address);
    await using reading = startReading(readingOptions(address, topic));
    const rows = emptyRows(300);
    await topic.produce(async (send) => {
      for (const row of rows) await send([row]);
    });
    await reading.until('all read', () => reading.messages.length === rows.length);
    expect(textsOf(reading)).toEqual(rows.map((row) => row.value));
  });

  it('commits to Kafka what was stored, as a courtesy', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(5));
    const options = readingOptions(address, topic);
    await using reading = startReading(options);
    await reading.until('all read', () => reading.messages.length === 5);
    const committed = (): Promise<string | undefined> =>
      topic.admin(async (admin) => {
        const [offsets] = await admin.fetchOffsets({ groupId: options.group, topics: [topic.name] });
        return offsets?.partitions[0]?.offset;
      });
    await expect.poll(committed).toBe('5');
  });
});

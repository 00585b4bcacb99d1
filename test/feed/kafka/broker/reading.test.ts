import { hash } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { LINE_BYTES_MAX } from '../../../../src/feed/limits.ts';
import { PACKERS, type PackerName } from '../../../support/kafka/compression.ts';
import { type Reading, readingOptions, startReading, textsOf } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';

const address = inject('kafka').addresses.plain;

const valuesOf = (rows: readonly Row[]): (string | null)[] => rows.map(({ value }) => value);
const readAll = (reading: Reading, count: number): Promise<void> =>
  reading.until('all read', () => reading.messages.length >= count);
const addPartition = (topic: TestTopic, count: number): Promise<boolean> =>
  topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count }] }));
const committed = (topic: TestTopic, groupId: string): Promise<string | undefined> =>
  topic.admin(async (admin) => {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic.name] });
    return offsets?.partitions.find(({ partition }) => partition === 0)?.offset;
  });

describe('a topic of one partition', () => {
  it('is read in order from its start, and from a stored position on, also by two of one group', async () => {
    const topic = await createTopic(address);
    const rows = [...emptyRows(250), { partition: 0, value: null }, ...emptyRows(249, 0, 250)];
    await topic.send(rows);
    const group = `g-${topic.name}`;
    await using reading = startReading(readingOptions(address, topic, { group }));
    await readAll(reading, 500);
    expect(textsOf(reading)).toEqual(valuesOf(rows));
    expect(reading.messages.map(({ offset }) => offset)).toEqual(rows.map((_, n) => n));
    const lanes = new Map([
      ['0', { start: '0', resumeToken: '400', sha256: hash('sha256', rows[399]!.value!, 'buffer') }],
    ]);
    const stored = { identity: reading.start!.identity, lanes };
    await using again = startReading(readingOptions(address, topic, { group, stored }));
    await readAll(again, 100);
    expect(again.messages[0]!.offset).toBe(400);
    await again.until('caught up', () => again.status().caughtUpAt !== null);
    expect(again.status()).toMatchObject({ stopped: null, partitions: [{ nextOffset: 500, endOffset: 500 }] });
  });

  it.each(Object.keys(PACKERS) as PackerName[])(
    'is read whether we or the broker compressed it with %s',
    async (name) => {
      const [ours, brokers] = [
        await createTopic(address),
        await createTopic(address, { config: { 'compression.type': name } }),
      ];
      const rows = emptyRows(200);
      await ours.send(rows, PACKERS[name].type);
      await brokers.send(rows);
      for (const topic of [ours, brokers]) {
        await using reading = startReading(readingOptions(address, topic));
        await readAll(reading, 200);
        expect(textsOf(reading)).toEqual(valuesOf(rows));
      }
    },
  );

  it('keeps the start, length and hash of a message above the limit', async () => {
    const topic = await createTopic(address, { config: { 'max.message.bytes': '67108864' } });
    const long = `{"update_id": "${'x'.repeat(LINE_BYTES_MAX)}"}`;
    await topic.send([{ partition: 0, value: long }]);
    await using reading = startReading(readingOptions(address, topic));
    await readAll(reading, 1);
    const [first] = reading.messages;
    expect(first!.overlong).toEqual({ length: long.length, sha256: hash('sha256', long) });
    expect(first!.bytes).toHaveLength(64 * 1024);
  });

  it('gives committed transactions only, however they overlap and whatever the keys are, and is at its end past their control records', async () => {
    const topic = await createTopic(address);
    await topic.sendTransaction(emptyRows(3), 'commit');
    const [early, late] = [await topic.beginTransaction(), await topic.beginTransaction()];
    await early.send(emptyRows(2, 0, 100));
    await late.send(emptyRows(2, 0, 200), Buffer.from([0, 0, 0, 0]));
    await early.send(emptyRows(1, 0, 102));
    await late.abort();
    await early.abort();
    await topic.send(emptyRows(3, 0, 3));
    await topic.sendTransaction(emptyRows(2, 0, 300), 'abort');
    await using reading = startReading(readingOptions(address, topic));
    await readAll(reading, 6);
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
    expect(textsOf(reading)).toEqual(valuesOf(emptyRows(6)));
    expect(reading.status().partitions).toMatchObject([{ nextOffset: 17, endOffset: 17 }]);
  });

  it('is read on while it is written to, message by message', async () => {
    const topic = await createTopic(address);
    await using reading = startReading(readingOptions(address, topic));
    const rows = emptyRows(60);
    await topic.produce(async (send) => {
      for (const row of rows) await send([row]);
    });
    await readAll(reading, rows.length);
    expect(textsOf(reading)).toEqual(valuesOf(rows));
  });
});

describe('what was given before the connection was lost', () => {
  /** Reads five messages, and connects again because of a new partition. */
  async function reconnected(topic: TestTopic, group: string): Promise<Reading> {
    await topic.send(emptyRows(5));
    const reading = startReading(readingOptions(address, topic, { group, partitionIdleMs: 1 }), { stores: false });
    await readAll(reading, 5);
    await addPartition(topic, 2);
    return reading;
  }

  it('is not stored, nor committed, until the views say so', async () => {
    const topic = await createTopic(address);
    const group = `g-${topic.name}`;
    await using reading = await reconnected(topic, group);
    await reading.until('connected again', () => reading.status().partitions.length === 2);
    await topic.send(emptyRows(1, 0, 5));
    await readAll(reading, 6);
    const first = (): object | undefined => reading.status().partitions[0];
    await expect.poll(first).toMatchObject({ nextOffset: 0, endOffset: 6 });
    expect([reading.status().caughtUpAt, await committed(topic, group)]).toEqual([null, '-1']);
    for (const offset of [3, 6]) {
      reading.source.stored!(new Map([['0', String(offset)]]));
      await expect.poll(() => committed(topic, group)).toBe(String(offset));
      expect(first()).toMatchObject({ nextOffset: offset, endOffset: 6 });
      if (offset < 6) expect(reading.status().caughtUpAt).toBeNull();
    }
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
  });

  it('counts as stored where the views say so meanwhile', async () => {
    const topic = await createTopic(address);
    await using reading = await reconnected(topic, `g-${topic.name}`);
    await reading.until('lost', () => reading.status().stopped !== null);
    reading.source.stored!(new Map([['0', '5']]));
    await reading.until('caught up', () => reading.status().caughtUpAt !== null);
    expect(reading.status().partitions).toMatchObject([
      { nextOffset: 5, endOffset: 5 },
      { nextOffset: 0, endOffset: 0 },
    ]);
  });
});

describe('a topic of several partitions', () => {
  it('is read in the order of record times, except for what must wait', async () => {
    const partitions = 12;
    const topic = await createTopic(address, { partitions });
    const rows = Array.from({ length: partitions * 50 }, (_, n): Row => {
      const [second, partition] = [Math.floor(n / partitions), n % partitions];
      return { partition, value: emptyUpdate(`s${partition}`, second * partitions + ((partition * 5) % partitions)) };
    });
    await topic.send(rows);
    await using reading = startReading(readingOptions(address, topic));
    await readAll(reading, partitions * 49 + 1);
    await reading.until('held', () => reading.status().blocking.length > 0);
    const read = textsOf(reading).map((text) => (JSON.parse(text!) as { record_time: string }).record_time);
    expect(read).toEqual(read.toSorted());
    expect(read.length).toBeLessThan(partitions * 50);
  });

  it('makes all wait while a partition is empty, says which, and waits no longer after the time given', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    await topic.send([...emptyRows(5, 0), ...emptyRows(5, 2, 10)]);
    await using holding = startReading(readingOptions(address, topic));
    await holding.until('held', () => holding.status().blocking.length > 0);
    expect(holding.status()).toMatchObject({
      blocking: ['partition 1 is at its end, and the others wait until it has a later message'],
      caughtUpAt: null,
    });
    expect(holding.messages).toEqual([]);
    await using passing = startReading(readingOptions(address, topic, { partitionIdleMs: 300 }));
    await readAll(passing, 10);
    await passing.until('caught up', () => passing.status().caughtUpAt !== null);
    expect(passing.status().partitions.map(({ isIdle }) => isIdle)).toEqual([true, true, true]);
    await topic.send(emptyRows(1, 1, 3));
    await readAll(passing, 11);
  });

  it('may get more partitions while it is read', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(3));
    await using reading = startReading(readingOptions(address, topic, { partitionIdleMs: 1 }));
    await readAll(reading, 3);
    await addPartition(topic, 2);
    await topic.untilLed();
    await topic.send([...emptyRows(2, 1, 50), ...emptyRows(2, 0, 70)]);
    await readAll(reading, 7);
    const places = reading.messages.map(({ lane, offset }) => `${lane}@${offset}`);
    expect(places.toSorted()).toEqual(['0@0', '0@1', '0@2', '0@3', '0@4', '1@0', '1@1']);
  });
});

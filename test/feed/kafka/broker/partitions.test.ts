import { describe, expect, inject, it } from 'vitest';
import { type Reading, readingOptions, startReading, textsOf } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';

const address = inject('kafka').addresses.plain;

describe('a topic of several partitions', () => {
  const synchronizers = (partitions: number, seconds: number): Row[] =>
    Array.from({ length: seconds }, (_, second) => second).flatMap((second) =>
      Array.from({ length: partitions }, (_, partition) => ({
        partition,
        value: emptyUpdate(`s${partition}`, second * partitions + ((partition * 5) % partitions)),
      })),
    );
  const times = (reading: Reading): string[] =>
    textsOf(reading).map((text) => (JSON.parse(text!) as { record_time: string }).record_time);

  it.each([3, 12])('of %i is read in the order of record times, except for what must wait', async (partitions) => {
    const topic = await createTopic(address, { partitions });
    const rows = synchronizers(partitions, 50);
    await topic.send(rows);
    await using reading = startReading(readingOptions(address, topic));
    await reading.until('all read that can be', () => reading.messages.length > partitions * 49);
    await reading.until('held', () => reading.status().blocking.length > 0);
    const read = times(reading);
    expect(read).toEqual(read.toSorted());
    expect(read.length).toBeLessThan(partitions * 50);
  });

  it('makes all wait while a partition is empty, says which, and passes it over after the time given', async () => {
    const topic = await createTopic(address, { partitions: 3 });
    await topic.send([...emptyRows(5, 0), ...emptyRows(5, 2, 10)]);
    await using holding = startReading(readingOptions(address, topic));
    await holding.until('held', () => holding.status().blocking.length > 0);
    expect(holding.status().blocking).toEqual([
      'partition 1 is at its end, and the others wait until it has a later message',
    ]);
    expect(holding.messages).toEqual([]);
    expect(holding.status().caughtUpAt).toBeNull();

    await using passing = startReading(readingOptions(address, topic, { partitionIdleMs: 1_500 }));
    await passing.until('passed over', () => passing.messages.length === 10);
    await passing.until('caught up', () => passing.status().caughtUpAt !== null);
    expect(passing.status().partitions.map((partition) => partition.passedOver)).toEqual([true, true, true]);
    await topic.send(emptyRows(1, 1, 3));
    await passing.until('the late one read', () => passing.messages.length === 11);
  });

  it('may get more partitions while it is read', async () => {
    const topic = await createTopic(address);
    await topic.send(emptyRows(3));
    await using reading = startReading(readingOptions(address, topic, { partitionIdleMs: 1 }));
    await reading.until('read', () => reading.messages.length === 3);
    await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 2 }] }));
    const partitions = (): Promise<number> =>
      topic.admin(async (admin) => (await admin.fetchTopicOffsets(topic.name)).length);
    await expect.poll(partitions).toBe(2);
    await topic.send([...emptyRows(2, 1, 50), ...emptyRows(2, 0, 70)]);
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
});

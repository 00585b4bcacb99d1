import { randomUUID } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { startReading } from '../../../support/kafka/reading.ts';
import { createTopic, plainConnection, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';

const address = inject('kafka').addresses.plain;

const updates = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', from + n) }));

it('what was handed over before the connection was lost is not stored until the views say so', async () => {
  const topic = await createTopic(address);
  await topic.send(updates(0, 5));
  const group = `g-${randomUUID()}`;
  const stored = { identity: null, lanes: new Map() };
  const place = { connection: plainConnection(address), topic: topic.name, group, migrationId: 0, stored };
  await using reading = startReading({ ...place, partitionIdleMs: 1 }, { stores: false });
  await reading.until('handed over', () => reading.messages.length === 5);
  const standing = (): object | undefined => reading.status().partitions[0];
  const committed = (): Promise<string | undefined> =>
    topic.admin(async (admin) => {
      const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [topic.name] });
      return offsets?.partitions.find(({ partition }) => partition === 0)?.offset;
    });

  await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 2 }] }));
  await reading.until('connected again', () => reading.status().partitions.length === 2);
  await topic.send(updates(5, 6));
  await reading.until('read on', () => reading.messages.length === 6);
  await expect.poll(standing).toMatchObject({ nextOffset: 0, endOffset: 6 });
  expect([reading.status().caughtUpAt, await committed()]).toEqual([null, '-1']);

  reading.source.stored!(new Map([['0', '3']]));
  await expect.poll(committed).toBe('3');
  expect(standing()).toMatchObject({ nextOffset: 3, endOffset: 6 });
  expect(reading.status().caughtUpAt).toBeNull();

  reading.source.stored!(new Map([['0', '6']]));
  await expect.poll(committed).toBe('6');
  expect(standing()).toMatchObject({ nextOffset: 6, endOffset: 6 });
  await reading.until('caught up', () => reading.status().caughtUpAt !== null);
});

it('what is stored while the connection is lost counts as stored', async () => {
  const topic = await createTopic(address);
  await topic.send(updates(0, 5));
  const stored = { identity: null, lanes: new Map() };
  const place = { connection: plainConnection(address), topic: topic.name, group: `g-${randomUUID()}`, stored };
  await using reading = startReading({ ...place, migrationId: 0, partitionIdleMs: 1 }, { stores: false });
  await reading.until('handed over', () => reading.messages.length === 5);
  await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 2 }] }));
  await reading.until('lost', () => reading.status().stopped !== null);
  reading.source.stored!(new Map([['0', '5']]));
  await reading.until('caught up', () => reading.status().caughtUpAt !== null);
  expect(reading.status().partitions).toMatchObject([
    { nextOffset: 5, endOffset: 5 },
    { nextOffset: 0, endOffset: 0 },
  ]);
});

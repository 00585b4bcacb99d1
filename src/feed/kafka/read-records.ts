import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { awaitBounds } from './bounds.ts';
import type { PartitionBounds } from './positions.ts';
import { recordsOf } from './record.ts';

export interface RecordsRead {
  /** The offset at which to begin with a partition. */
  readonly from: (bounds: PartitionBounds) => number;
  /** Called with records of one partition in their order; true where no more are wanted of it. What it throws ends the reading. */
  readonly each: (partition: number, values: readonly (Buffer | null)[]) => boolean;
}

/** For a consumer that begins where a broker has just started; kafkajs does not try again by itself. */
export const WHILE_GROUP_LOADS = {
  restartOnFailure: async (error: Error): Promise<boolean> =>
    'type' in error && error.type === 'GROUP_LOAD_IN_PROGRESS',
};

/**
 * Reads each partition to the end that it has now, in a consumer group of its own, which is removed afterwards. Returns what the
 * partitions had then.
 */
export async function readRecords(
  kafka: Kafka,
  topic: string,
  { from, each }: RecordsRead,
): Promise<ReadonlyMap<number, PartitionBounds>> {
  const admin = kafka.admin();
  await admin.connect();
  const groupId = `holdfast-produce-${randomUUID()}`;
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 100,
    retry: WHILE_GROUP_LOADS,
  });
  try {
    const bounds = await awaitBounds(kafka, topic);
    const ends = new Map(
      [...bounds].flatMap(([partition, { low, high }]) => (low === high ? [] : [[partition, high]])),
    );
    if (ends.size === 0) return bounds;
    const done = Promise.withResolvers<void>();
    const enough = new Set<number>();
    // At once: what is fetched first must not be what is before it.
    consumer.on('consumer.group_join', () => {
      for (const [partition, each] of bounds) consumer.seek({ topic, partition, offset: String(from(each)) });
    });
    // Also counts batches of control records, which the handler below never sees.
    consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
      if (enough.has(partition) || Number(lastOffset) + 1 >= ends.get(partition)!) ends.delete(partition);
      if (ends.size === 0) done.resolve();
    });
    consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
      if (!restart) done.reject(error);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { messages, partition }, pause }) => {
        try {
          const records = recordsOf(partition, messages, 0);
          const broken = records.at(-1)?.broken;
          const values = messages.slice(0, broken && -1).map(({ value }) => value);
          if (!each(partition, values)) {
            if (broken === undefined) return;
            throw new Refusal(`topic ${topic}, partition ${partition}, ${broken.place}: ${broken.message}`);
          }
          enough.add(partition);
          pause();
        } catch (error) {
          done.reject(error);
        }
      },
    });
    await done.promise;
    return bounds;
  } finally {
    await consumer.disconnect();
    await admin.deleteGroups([groupId]).catch(() => {});
    await admin.disconnect();
  }
}

import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { awaitBounds } from './bounds.ts';

/**
 * Reads each partition from its start until a record has a name, or to its end for `all`, in a consumer group of its own,
 * which is removed afterwards.
 */
export async function readPartitionsByName(
  kafka: Kafka,
  topic: string,
  { name, all }: { name: (value: Uint8Array | null) => string | null; all: boolean },
): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  const groupId = `holdfast-produce-${randomUUID()}`;
  const retry = { restartOnFailure: async (error: Error): Promise<boolean> => isGroupLoading(error) };
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100, retry });
  try {
    const bounds = await awaitBounds(kafka, topic);
    const ends = new Map(
      [...bounds].flatMap(([partition, { low, high }]) => (low === high ? [] : [[partition, high]])),
    );
    const found = new Map<string, number>();
    const named = new Set<number>();
    if (ends.size === 0) return found;
    const done = Promise.withResolvers<void>();
    // Also counts batches of control records, which the handler below never sees.
    consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
      if ((!all && named.has(partition)) || Number(lastOffset) + 1 >= ends.get(partition)!) ends.delete(partition);
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
        for (const { value } of messages) {
          const bears = name(value);
          if (bears === null) continue;
          if ((found.get(bears) ?? partition) !== partition) {
            return done.reject(inTwoPartitions(topic, bears, [found.get(bears)!, partition]));
          }
          found.set(bears, partition);
          named.add(partition);
          if (all) continue;
          pause();
          return;
        }
      },
    });
    await done.promise;
    return found;
  } finally {
    await consumer.disconnect();
    await admin.deleteGroups([groupId]).catch(() => {});
    await admin.disconnect();
  }
}

/** The answer of a broker that has just started; kafkajs does not try again by itself. */
function isGroupLoading(error: Error): boolean {
  return 'type' in error && error.type === 'GROUP_LOAD_IN_PROGRESS';
}

function inTwoPartitions(topic: string, name: string, partitions: readonly number[]): Refusal {
  const both = partitions.toSorted((a, b) => a - b).join(' and ');
  return new Refusal(
    `topic ${topic} has messages of ${name} in partitions ${both}, so their order is not known: ` +
      'send to another topic',
  );
}

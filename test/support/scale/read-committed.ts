import { randomUUID } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import { awaitBounds, createKafkaClient } from '../../../src/feed/kafka/kafka-client.ts';
import { keepingLogger } from '../kafka/reading.ts';
import { plainConnection } from '../kafka/topic.ts';

/** The committed messages of each partition, up to the ends as they are now. An open transaction there makes it wait. */
export async function readCommitted(address: string, topic: string): Promise<KafkaMessage[][]> {
  const kafka = createKafkaClient(plainConnection(address), keepingLogger());
  const bounds = await awaitBounds(kafka, topic);
  const missing = new Map(
    [...bounds].filter(([, { high }]) => high > 0).map(([partition, { high }]) => [partition, high]),
  );
  const read: KafkaMessage[][] = [...bounds].map(() => []);
  if (missing.size === 0) return read;
  const all = Promise.withResolvers<void>();
  const consumer = kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 50, readUncommitted: false });
  consumer.on('consumer.crash', ({ payload }) => all.reject(payload.error));
  consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
    if (Number(lastOffset) + 1 >= (missing.get(partition) ?? 0)) missing.delete(partition);
    if (missing.size === 0) all.resolve();
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => void read[batch.partition]!.push(...batch.messages),
  });
  await all.promise.finally(() => consumer.disconnect());
  return read;
}

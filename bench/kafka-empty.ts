import { randomUUID } from 'node:crypto';
import { createKafkaClient } from '../src/feed/kafka/kafka-client.ts';
import { reportRun } from './run-report.ts';

/** The least that reading a topic with kafkajs can cost: every message fetched, and a handler that does nothing with it. */
const [address, topic, end] = process.argv.slice(2) as [string, string, string];

await reportRun(topic, async () => {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const kafka = createKafkaClient({ brokers: [address], ssl: null, sasl: null }, silent);
  const bytes = 16 * 1024 * 1024;
  const limits = { maxBytesPerPartition: bytes, maxBytes: 2 * bytes, maxWaitTimeInMs: 100 };
  const consumer = kafka.consumer({ groupId: randomUUID(), ...limits });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((resolve) => {
    void consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        if (Number(batch.lastOffset()) + 1 >= Number(end)) resolve();
      },
    });
  });
  await consumer.disconnect();
  return { bytes: 0 };
});

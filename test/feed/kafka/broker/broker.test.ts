import { expect, inject, it } from 'vitest';
import { kafkajs } from '../../../../src/feed/kafka/library.ts';

it('runs one real broker for the test run', async () => {
  const { addresses } = inject('kafka');
  const admin = new kafkajs.Kafka({ brokers: [addresses.plain], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  expect((await admin.describeCluster()).brokers).toHaveLength(1);
  await admin.disconnect();
});

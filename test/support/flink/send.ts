import type { Message } from 'kafkajs';
import { createKafkaClient } from '../../../src/feed/kafka/client.ts';
import { keepingLogger } from '../kafka/reading.ts';
import { plainConnection, type Row } from '../kafka/topic.ts';

/** Sends to a topic that is there. */
export async function sendTo(address: string, topic: string, rows: readonly Row[]): Promise<void> {
  const producer = createKafkaClient(plainConnection(address), keepingLogger()).producer();
  await producer.connect();
  await producer.send({ topic, messages: [...rows] as Message[] });
  await producer.disconnect();
}

/** Removes what a partition has before an offset, as retention does; -1: all that it has. */
export async function cutTopic(address: string, topic: string, partition: number, offset: number): Promise<void> {
  const admin = createKafkaClient(plainConnection(address), keepingLogger()).admin();
  await admin.connect();
  // deleteTopicRecords fails on a client that has not used the topic before.
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
  await admin.disconnect();
}

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

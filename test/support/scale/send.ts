import type { Message } from 'kafkajs';
import { createKafkaClient } from '../../../src/feed/kafka/kafka-client.ts';
import { keepingLogger } from '../kafka/reading.ts';
import { plainConnection, type Row } from '../kafka/topic.ts';
import { oddMessage } from './odd-events.ts';

/** Sends to a topic that is there. */
export async function sendTo(address: string, topic: string, rows: readonly Row[]): Promise<void> {
  const producer = createKafkaClient(plainConnection(address), keepingLogger()).producer();
  await producer.connect();
  await producer.send({ topic, messages: [...rows] as Message[] });
  await producer.disconnect();
}

export interface ClosedEvents {
  readonly m: number;
  readonly periodUs: number;
  readonly partitions: number;
  readonly minute: number;
  readonly contracts: readonly (readonly [k: string, cid: string])[];
}

/** Sends events of one minute to the first partition, and to each a time that closes their interval. */
export async function sendClosed(
  address: string,
  topic: string,
  { m, periodUs, partitions, minute, contracts }: ClosedEvents,
): Promise<void> {
  const rows = contracts.map(([k, cid]) => ({ partition: 0, value: oddMessage(m, periodUs, cid, [k, minute]) }));
  const value = oddMessage(m, periodUs, null, ['M', minute + 10]);
  await sendTo(address, topic, [
    ...rows,
    ...Array.from({ length: partitions }, (_, partition) => ({ partition, value })),
  ]);
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

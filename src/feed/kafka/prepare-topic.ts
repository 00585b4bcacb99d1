import type { Kafka } from 'kafkajs';
import { awaitBounds } from './bounds.ts';
import { createMissingTopic } from './create-topic.ts';
import type { KafkaConnection } from './settings.ts';

/** A topic to write to. */
export interface TopicToWrite {
  readonly connection: KafkaConnection;
  readonly topic: string;
  /** Creates it with so many partitions where it does not exist. */
  readonly create: { readonly partitions: number } | null;
}

/** How many partitions it has. */
export async function prepareTopic(kafka: Kafka, { connection, topic, create }: TopicToWrite): Promise<number> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { brokers } = connection;
    await createMissingTopic(admin, { topic, brokers, partitions: create?.partitions ?? null });
    return (await awaitBounds(kafka, topic)).size;
  } finally {
    await admin.disconnect();
  }
}

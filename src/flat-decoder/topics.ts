import type { Kafka } from 'kafkajs';
import { counted } from '../counted.ts';
import { awaitBounds, createMissingTopic, withAdmin } from '../feed/kafka/kafka-client.ts';
import { Refusal } from '../refusal.ts';

export interface DecoderTopics {
  /** Of updates. */
  readonly input: string;
  /** Of flat events: as many partitions, because an update's events keep its order. */
  readonly flat: string;
  readonly deadLetters: string;
}

/** How many partitions there are. Creates what is missing where that is wanted; throws a Refusal for what does not fit. */
export async function prepareTopics(
  kafka: Kafka,
  { topics, brokers, create }: { topics: DecoderTopics; brokers: readonly string[]; create: boolean },
): Promise<number> {
  const { size: partitions } = await awaitBounds(kafka, topics.input);
  await withAdmin(kafka, async (admin) => {
    await createMissingTopic(admin, { topic: topics.flat, brokers, partitions: create ? partitions : null });
    await createMissingTopic(admin, { topic: topics.deadLetters, brokers, partitions: create ? 1 : null });
  });
  const { size: flat } = await awaitBounds(kafka, topics.flat);
  await awaitBounds(kafka, topics.deadLetters);
  if (flat === partitions) return partitions;
  throw new Refusal(
    `topic ${topics.flat} has ${counted(flat, 'partition')}, and topic ${topics.input} ${partitions}: they must have as many`,
  );
}

import type { Admin, Kafka } from 'kafkajs';
import { type RetryPolicy, retry } from '../../retry.ts';
import { withAdmin } from './client.ts';
import { answeredWith, isTransient } from './errors.ts';
import type { PartitionBounds } from './positions.ts';

/** Answers of brokers that do not know yet of a topic, or that they lead a partition. */
const NOT_YET = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION'];
/**
 * A topic without a leader, unknown to a broker, or whose leader cannot be reached for longer than this is an error: a broker may
 * take a while to start, and is a leader a moment before it listens.
 */
const RETRY_NOT_YET: RetryPolicy = {
  firstMs: 200,
  longestMs: 200,
  forMsMax: 30_000,
  passes: (error) => answeredWith(error, NOT_YET) || isTransient(error),
};

/** The first offset held and the end of each partition, in their order. Throws where the topic does not exist. */
export async function readBounds(admin: Admin, topic: string): Promise<Map<number, PartitionBounds>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  offsets.sort((a, b) => a.partition - b.partition);
  return new Map(offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]));
}

/**
 * As `readBounds`, for a topic that was just created or whose leaders change. kafkajs does not try again when a broker
 * answers that it is not the leader; a new client asks which one is.
 */
export function awaitBounds(kafka: Kafka, topic: string): Promise<Map<number, PartitionBounds>> {
  return retry(RETRY_NOT_YET, () => withAdmin(kafka, (admin) => readBounds(admin, topic)));
}

import type { Admin } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { LINE_BYTES_MAX } from '../limits.ts';
import { answeredWith } from './errors.ts';

const SETTINGS: Readonly<Record<string, string>> = {
  // The largest message that a consumer takes, with what Kafka adds to it.
  'max.message.bytes': String(LINE_BYTES_MAX + 1024 * 1024),
  // What was read once may not be had again: it is kept for ever.
  'retention.ms': '-1',
  'retention.bytes': '-1',
};

export interface WantedTopic {
  readonly topic: string;
  /** Addresses, for a message. */
  readonly brokers: readonly string[];
  /** With how many it is created where it does not exist; null: it must exist. */
  readonly partitions: number | null;
}

/** Throws a Refusal where a topic is missing that must exist. Does not wait: kafkajs fails where a broker does not know of it yet. */
export async function createMissingTopic(admin: Admin, { topic, brokers, partitions }: WantedTopic): Promise<void> {
  if (!(await isMissing(admin, topic))) return;
  if (partitions === null) throw new Refusal(`there is no topic ${topic} on ${brokers.join(',')}; --create creates it`);
  const configEntries = Object.entries(SETTINGS).map(([name, value]) => ({ name, value }));
  await admin.createTopics({
    waitForLeaders: false,
    // -1: the brokers' default number of replicas.
    topics: [{ topic, numPartitions: partitions, replicationFactor: -1, configEntries }],
  });
}

/** Other faults of a topic, such as a missing leader, show when its offsets are requested. */
function isMissing(admin: Admin, topic: string): Promise<boolean> {
  return admin.fetchTopicMetadata({ topics: [topic] }).then(
    () => false,
    (error: unknown) => answeredWith(error, ['UNKNOWN_TOPIC_OR_PARTITION']),
  );
}

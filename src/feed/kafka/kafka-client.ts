import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Kafka, LogEntry, SASLOptions } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { type RetryPolicy, retry } from '../../retry.ts';
import { LINE_BYTES_MAX } from '../limits.ts';
import type { SourceLogger } from '../source.ts';
import { answeredWith, isTransient } from './kafka-errors.ts';
import type { PartitionBounds } from './kafka-positions.ts';
import { kafkajs } from './kafkajs.ts';

/** How to reach a cluster; PEM texts, null for the system's authorities and for no client certificate. */
export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly ssl: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null } | null;
  readonly sasl: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  } | null;
}

/** Which topic to read and how to reach it. */
export interface TopicSettings extends KafkaConnection {
  readonly topic: string;
  /** Null: one created with the data directory. */
  readonly group: string | null;
  /** Null: an idle partition makes the others wait forever. */
  readonly partitionIdleMs: number | null;
}

const CONNECTION_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;
const DISCONNECT_TIMEOUT_MS = 5_000;
/** A new partition stays unassigned for at most this long. */
const METADATA_AGE_MS = 30_000;
/** How long a fetch waits at the end of a partition, and how long a pause lasts. */
const FETCH_WAIT_MS = 100;

/** A client whose own log goes to `debug`: its callers log what matters, in our words. */
export function createKafkaClient({ brokers, ssl, sasl }: KafkaConnection, logger: SourceLogger): Kafka {
  return new kafkajs.Kafka({
    clientId: 'holdfast',
    brokers: [...brokers],
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Few and quick: the caller has its own back-off, and meanwhile reports what is wrong.
    retry: { retries: 3, initialRetryTime: 200, maxRetryTime: 2_000, restartOnFailure: async () => false },
    ...(ssl === null ? {} : { ssl: Object.fromEntries(Object.entries(ssl).filter(([, pem]) => pem !== null)) }),
    ...(sasl === null ? {} : { sasl: { ...sasl } as SASLOptions }),
    logLevel: kafkajs.logLevel.INFO,
    logCreator:
      () =>
      ({ namespace, log }: LogEntry) => {
        const { message, timestamp: _, logger: __, stack: ___, ...fields } = log;
        logger.debug({ ...fields, namespace }, `kafkajs: ${message}`);
      },
  });
}

/** Of a consumer that reads what is committed. */
export const READER_CONFIG = {
  allowAutoTopicCreation: false,
  metadataMaxAge: METADATA_AGE_MS,
  maxWaitTimeInMs: FETCH_WAIT_MS,
  readUncommitted: false,
} as const;

/** Waits until connections are closed, but not long: a broker that does not answer must not delay the end. */
export async function closed(closing: readonly Promise<unknown>[]): Promise<void> {
  await Promise.race([Promise.allSettled(closing), sleep(DISCONNECT_TIMEOUT_MS, undefined, { ref: false })]);
}

/** Connects for as long as the body takes. */
export async function withAdmin<Result>(kafka: Kafka, body: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await body(admin);
  } finally {
    await admin.disconnect();
  }
}

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

const SETTINGS: Readonly<Record<string, string>> = {
  // The largest message that a consumer takes, with what Kafka adds to it.
  'max.message.bytes': String(LINE_BYTES_MAX + 1024 * 1024),
  // What was read once may not be had again: it is kept for ever.
  'retention.ms': '-1',
  'retention.bytes': '-1',
};

/**
 * Creates a topic that is missing with so many partitions; throws a Refusal where that is null. Does not wait: kafkajs fails where
 * a broker does not know of it yet. Other faults of a topic, such as a missing leader, show when its offsets are requested.
 */
export async function createMissingTopic(
  admin: Admin,
  { topic, brokers, partitions }: { topic: string; brokers: readonly string[]; partitions: number | null },
): Promise<void> {
  const isMissing = await admin.fetchTopicMetadata({ topics: [topic] }).then(
    () => false,
    (error: unknown) => answeredWith(error, ['UNKNOWN_TOPIC_OR_PARTITION']),
  );
  if (!isMissing) return;
  if (partitions === null) throw new Refusal(`there is no topic ${topic} on ${brokers.join(',')}; --create creates it`);
  const configEntries = Object.entries(SETTINGS).map(([name, value]) => ({ name, value }));
  // -1: the brokers' default number of replicas.
  const created = { topic, numPartitions: partitions, replicationFactor: -1, configEntries };
  await admin.createTopics({ waitForLeaders: false, topics: [created] });
}

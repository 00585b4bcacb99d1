import type { Admin, ConsumerConfig, Kafka, LogEntry, SASLOptions } from 'kafkajs';
import type { SourceLogger } from '../source.ts';
import { kafkajs } from './kafkajs.ts';
import type { KafkaConnection } from './settings.ts';

const CONNECTION_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;
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

/** Of such a consumer that is a member of a group. */
export function memberConfig({ group, sessionTimeoutMs }: { group: string; sessionTimeoutMs: number }): ConsumerConfig {
  const heartbeatInterval = Math.floor(sessionTimeoutMs / 10);
  return { ...READER_CONFIG, groupId: group, sessionTimeout: sessionTimeoutMs, heartbeatInterval };
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

import type { Kafka, LogEntry, SASLOptions } from 'kafkajs';
import type { SourceLogger } from '../source.ts';
import { kafkajs } from './kafkajs.ts';
import type { KafkaConnection } from './settings.ts';

const CONNECTION_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** A client whose own log goes to `debug`: its callers log what matters, in our words. */
export function createKafkaClient({ brokers, ssl, sasl }: KafkaConnection, logger: SourceLogger): Kafka {
  return new kafkajs.Kafka({
    clientId: 'holdfast',
    brokers: [...brokers],
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Few and quick: the caller has its own back-off, and meanwhile reports what is wrong.
    retry: { retries: 3, initialRetryTime: 200, maxRetryTime: 2_000, restartOnFailure: async () => false },
    ...(ssl === null ? {} : { ssl: definedOf(ssl) }),
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

function definedOf(ssl: NonNullable<KafkaConnection['ssl']>): Record<string, string> {
  return Object.fromEntries(Object.entries(ssl).flatMap(([name, pem]) => (pem === null ? [] : [[name, pem]])));
}

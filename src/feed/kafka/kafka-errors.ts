import type { RetryPolicy } from '../../retry.ts';

/** Properties of kafkajs' errors that say more than their messages; its types lack some of them. */
interface KafkaError extends Error {
  readonly retriable?: boolean;
  /** Of an error that is a broker's answer. */
  readonly type?: string;
  /** Of the socket or of TLS. */
  readonly code?: string | number;
  /** `host:port`. */
  readonly broker?: string;
}

/** May pass: what is read no longer fits what the session began with, or the leader of a partition is not known yet. */
export class MayPass extends Error {
  override readonly name = 'MayPass';
  readonly retriable = true;
}

/** kafkajs silently leaves out records for a partition whose leader it does not know. */
export function leaderUnknown(topic: string): MayPass {
  return new MayPass(`the leader of topic ${topic} is not known yet`);
}

const CA_HINT = '--kafka-ssl-ca names the file of the authority that signed its certificate';
const CERTIFICATE_HINT = 'it asks for a client certificate (--kafka-ssl-cert and --kafka-ssl-key)';
/** What may fix it, by the name of kafkajs' error, a broker's answer, or Node's code for errors of sockets and of TLS. */
const HINTS: Readonly<Record<string, string>> = {
  KafkaJSConnectionClosedError:
    'a broker that is shutting down does this, and one that requires TLS (--kafka-ssl) or a login (--kafka-sasl-mechanism)',
  ILLEGAL_SASL_STATE: 'this port of the broker accepts no login (--kafka-sasl-mechanism)',
  MESSAGE_TOO_LARGE: "the topic's max.message.bytes sets the limit; topics created with --create take 16 MiB",
  ECONNRESET: 'a port without TLS answers like this (--kafka-ssl)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CA_HINT,
  SELF_SIGNED_CERT_IN_CHAIN: CA_HINT,
  DEPTH_ZERO_SELF_SIGNED_CERT: CA_HINT,
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE': CERTIFICATE_HINT,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: CERTIFICATE_HINT,
};

/** Whether trying again may help; kafkajs marks its errors, and the error that it wraps has the mark that counts. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // kafkajs asks each broker for a few seconds, and then drops what they answered, or that they did not.
  if (error.name === 'KafkaJSGroupCoordinatorNotFound') return true;
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return error.cause === undefined || isTransient(error.cause);
  return (error as KafkaError).retriable === true || (error.cause instanceof Error && isTransient(error.cause));
}

/** Whether an error of kafkajs wraps one of these answers of a broker. */
export function answeredWith(error: unknown, types: readonly string[]): boolean {
  if (!(error instanceof Error)) return false;
  return types.includes((error as KafkaError).type ?? '') || answeredWith(error.cause, types);
}

/** Answers to a producer whose id another one has now, whose transaction was ended for it, or that brokers have forgotten. */
const FENCED: readonly string[] = [
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_TXN_STATE',
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'TRANSACTION_COORDINATOR_FENCED',
  'UNKNOWN_PRODUCER_ID',
];

/** Whether to open a producer again may help. */
export function passesReopened(error: unknown): boolean {
  return isTransient(error) || answeredWith(error, FENCED);
}

/** For reading a topic: waits for whatever may come back. */
export const RETRY_READING: RetryPolicy = { firstMs: 250, longestMs: 10_000, forMsMax: null, passes: isTransient };

/** For a command: long enough for a broker to be restarted or replaced. */
export const RETRY_PRODUCING: RetryPolicy = { firstMs: 250, longestMs: 5_000, forMsMax: 60_000, passes: isTransient };

/** What went wrong, where, and what may fix it: as the innermost error shows. */
export function describeKafkaError(error: unknown, topic: string): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return describeKafkaError(error.cause, topic);
  const { name, type, code, broker, message: words } = error as KafkaError;
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return `there is no topic ${topic} on this cluster`;
  const message = words.trim();
  const address = broker === undefined || message.includes(broker) ? '' : ` (broker ${broker})`;
  const hint = HINTS[name] ?? HINTS[String(type ?? code)];
  return `${message}${address}${hint === undefined ? '' : `: ${hint}`}`;
}

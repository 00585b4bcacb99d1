import { Refusal } from '../../refusal.ts';
import { type Pause, retry } from '../../retry.ts';
import type { SourceLogger } from '../source.ts';
import {
  awaitBounds,
  closed,
  createKafkaClient,
  createMissingTopic,
  type KafkaConnection,
  withAdmin,
} from './kafka-client.ts';
import { describeKafkaError, leaderUnknown, RETRY_PRODUCING } from './kafka-errors.ts';
import { type PartitionTail, readTails } from './read-records.ts';

export interface ProducedRecord {
  readonly partition: number;
  readonly value: Uint8Array | null;
}

/** Below Kafka's default limit of a batch, 1 MiB; a larger message is sent alone and needs a topic that allows it. */
const REQUEST_BYTES_MAX = 800_000;
/** What Kafka adds to a record, at most about. */
const RECORD_OVERHEAD_BYTES = 100;
/** How often kafkajs asks again for partitions and their leaders. */
const METADATA_AGE_MS = 5_000;

export function recordBytes(value: Uint8Array | string | null): number {
  return Buffer.byteLength(value ?? '') + RECORD_OVERHEAD_BYTES;
}

/** Records of one partition in their order, as many at a time as one request may have. */
export function* requestsOf<Sent extends { readonly value: Uint8Array | string | null }>(
  records: readonly Sent[],
): Generator<Sent[]> {
  let [from, bytes] = [0, 0];
  for (const [i, { value }] of records.entries()) {
    const size = recordBytes(value);
    if (i > from && bytes + size > REQUEST_BYTES_MAX) {
      yield records.slice(from, i);
      [from, bytes] = [i, 0];
    }
    bytes += size;
  }
  if (from < records.length) yield records.slice(from);
}

export type TopicProducer = Awaited<ReturnType<typeof openTopicProducer>>;

/**
 * An idempotent producer for one topic. It waits for brokers that go away, and what is sent again after an answer was lost is
 * there once. Does not wait for brokers that were never reached: their names may be wrong.
 */
export async function openTopicProducer(to: {
  readonly connection: KafkaConnection;
  readonly topic: string;
  /** Creates it with so many partitions where it does not exist. */
  readonly create: { readonly partitions: number } | null;
  readonly logger: SourceLogger;
  /** Aborts waiting for brokers that went away. */
  readonly signal: AbortSignal;
}) {
  const { connection, topic, create, logger, signal } = to;
  const { brokers } = connection;
  logger.info({ topic }, `connecting to Kafka at ${brokers.join(',')}`);
  const kafka = createKafkaClient(connection, logger);
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    metadataMaxAge: METADATA_AGE_MS,
    // Few: the records of a request that fails are sent again below, by the same producer and so with the same numbers.
    retry: { retries: 3 },
  });
  const prepare = async (): Promise<number> => {
    const partitions = create?.partitions ?? null;
    await withAdmin(kafka, (admin) => createMissingTopic(admin, { topic, brokers, partitions }));
    await producer.connect();
    return (await awaitBounds(kafka, topic)).size;
  };
  const disconnect = (): Promise<void> => closed([producer.disconnect()]);
  const onFailure = ({ error, retryInMs, leftMs }: Pause): void => {
    const waits = `waiting for it, for ${Math.ceil(leftMs / 1000)} s at most`;
    logger.warn({ topic, err: error, retryInMs }, `${error.message}; ${waits}`);
  };

  const partitions = await explained('write to', topic, prepare()).catch(async (error: unknown) => {
    await disconnect();
    throw error;
  });
  return {
    kafka,
    topic,
    partitions,
    tails: (): Promise<ReadonlyMap<number, PartitionTail>> => explained('read', topic, readTails(kafka, topic)),
    /** Resolves when the brokers have stored them. */
    async send(records: readonly ProducedRecord[]): Promise<void> {
      // A request of one partition is stored as a whole or not at all.
      for (const ofPartition of Map.groupBy(records, ({ partition }) => partition).values())
        for (const request of requestsOf(ofPartition)) {
          const messages = request.map(({ partition, value }) => ({ partition, value: value && Buffer.from(value) }));
          const step = async (): Promise<void> => {
            const sent = await explained('write to', topic, producer.send({ topic, messages, acks: -1 }));
            if (sent.length === 0) throw leaderUnknown(topic);
          };
          await retry(RETRY_PRODUCING, step, { signal, onFailure });
        }
    },
    [Symbol.asyncDispose]: disconnect,
  };
}

async function explained<Result>(doing: 'read' | 'write to', topic: string, step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Error(`cannot ${doing} topic ${topic}: ${describeKafkaError(error, topic)}`, { cause: error });
  }
}

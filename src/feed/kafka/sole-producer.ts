import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Producer, Transaction } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import type { SourceLogger } from '../source.ts';
import { awaitBounds } from './bounds.ts';
import { createKafkaClient, withAdmin } from './client.ts';
import { createMissingTopic } from './create-topic.ts';
import { readEnds, type TopicEnds } from './ends.ts';
import { answeredWith, describeKafkaError, LeftOut } from './errors.ts';
import { readPartitionsByName } from './partitions-by-name.ts';
import { type ProducedRecord, requestsOf } from './requests.ts';
import type { KafkaConnection } from './settings.ts';

/** A topic to write to. */
export interface TopicToWrite {
  readonly connection: KafkaConnection;
  readonly topic: string;
  /** Creates it with so many partitions where it does not exist. */
  readonly create: { readonly partitions: number } | null;
}

/** A topic that exists, to be written by one process at a time. */
export interface SoleTopic {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly partitions: number;
}

/** Writes to one topic, in order. */
export interface RecordProducer extends AsyncDisposable {
  readonly partitions: number;
  /** The last records of each partition that has or had any: see `readEnds`. */
  ends(): Promise<TopicEnds>;
  /**
   * The partition of each name in the records: in the first named record of each partition, or in all records, which reads
   * the whole topic. Throws a Refusal where one name is in two partitions.
   */
  partitionsByName(
    name: (value: Uint8Array | null) => string | null,
    options: { all: boolean },
  ): Promise<Map<string, number>>;
  /** Resolves when the brokers have stored them. */
  send(records: readonly ProducedRecord[]): Promise<void>;
}

/** The only one of its kind in a topic: what it sends at once is there as a whole or not at all. After an error it is of no more use. */
export interface SoleProducer extends RecordProducer {
  /** All that is sent within the step is there as a whole or not at all. */
  whole(step: () => Promise<void>): Promise<void>;
}

/** The most that brokers allow by default, because a seed of a large network is one transaction. */
const TRANSACTION_TIMEOUT_MS = 900_000;
/**
 * For a change of leader, where a producer can wait and send nothing twice; after other faults a new one is created. The first
 * pause is short because a transaction that begins at once after another one is often told to wait for the end of that.
 */
const ATTEMPTS = { retries: 8, initialRetryTime: 20, maxRetryTime: 5_000 };
/** How often kafkajs asks again for partitions and their leaders. */
const METADATA_AGE_MS = 5_000;
const DISCONNECT_TIMEOUT_MS = 5_000;

/** Does not wait for brokers that were never reached: their names may be wrong. */
export async function openSoleTopic(options: TopicToWrite & { readonly logger: SourceLogger }): Promise<SoleTopic> {
  const { connection, topic, create, logger } = options;
  const kafka = createKafkaClient(connection, logger);
  const wanted = { topic, brokers: connection.brokers, partitions: create?.partitions ?? null };
  const partitions = withAdmin(kafka, async (admin) => {
    await createMissingTopic(admin, wanted);
    return (await awaitBounds(kafka, topic)).size;
  });
  return { kafka, topic, partitions: await explained('write to', topic, partitions) };
}

/**
 * Takes over a topic: the transactional id is the topic's, and to open it ends whatever another process has begun, which fails
 * with its next message. Only then is it known what the topic holds.
 * `timeoutMs`: the longest transaction; that of a process that died holds readers back for so long, unless another one begins.
 */
export async function openSoleProducer(
  { kafka, topic, partitions }: SoleTopic,
  { timeoutMs = TRANSACTION_TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<SoleProducer> {
  const producer = kafka.producer({
    transactionalId: `holdfast-produce.${topic}`,
    idempotent: true,
    maxInFlightRequests: 1,
    transactionTimeout: timeoutMs,
    allowAutoTopicCreation: false,
    metadataMaxAge: METADATA_AGE_MS,
    retry: ATTEMPTS,
  });
  let open: Transaction | null = null;

  async function inTransaction(step: (transaction: Transaction) => Promise<void>): Promise<void> {
    const begunAt = performance.now();
    try {
      const transaction = await explained('write to', topic, producer.transaction());
      try {
        await step(transaction);
        await explained('write to', topic, transaction.commit());
      } catch (error) {
        await transaction.abort().catch(() => {});
        throw error;
      }
    } catch (error) {
      // Who opens the transactional id ends this one; brokers that end one that took too long give the same answer.
      const isEnded = answeredWith(error, ['INVALID_PRODUCER_EPOCH']);
      if (!isEnded || performance.now() - begunAt >= timeoutMs) throw error;
      throw new Refusal(
        `another process has begun to write to topic ${topic}, and only one may: this one ends, and has sent nothing since`,
      );
    }
  }

  const whole: SoleProducer['whole'] = (step) =>
    inTransaction(async (transaction) => {
      open = transaction;
      try {
        await step();
      } finally {
        open = null;
      }
    });

  try {
    await explained('write to', topic, producer.connect());
    // kafkajs opens the transactional id with the first transaction.
    await inTransaction(async () => {});
  } catch (error) {
    await disconnect(producer);
    throw error;
  }
  return {
    partitions,
    partitionsByName: (name, { all }) => explained('read', topic, readPartitionsByName(kafka, topic, { name, all })),
    ends: () => explained('read', topic, readEnds(kafka, topic)),
    whole,
    async send(records) {
      const sendIn = async (transaction: Transaction): Promise<void> => {
        for (const request of requestsOf(records)) {
          const messages = request.map(({ partition, value }) => ({ partition, value: value && Buffer.from(value) }));
          const wanted = new Set(request.map(({ partition }) => partition));
          const sent = await explained('write to', topic, transaction.send({ topic, messages, acks: -1 }));
          if (new Set(sent.map(({ partition }) => partition)).size < wanted.size) throw new LeftOut(topic);
        }
      };
      await (open === null ? inTransaction(sendIn) : sendIn(open));
    },
    [Symbol.asyncDispose]: () => disconnect(producer),
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

/** Everything sent was acknowledged or given up: a broker that does not answer must not delay the end. */
async function disconnect(producer: Producer): Promise<void> {
  const disconnected = producer.disconnect().catch(() => {});
  await Promise.race([disconnected, sleep(DISCONNECT_TIMEOUT_MS, undefined, { ref: false })]);
}

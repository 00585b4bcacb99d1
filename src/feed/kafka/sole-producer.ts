import type { Kafka, Transaction } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import type { SourceLogger } from '../source.ts';
import { createKafkaClient } from './client.ts';
import { cannotUse, type Doing, isTakenOver, LeftOut } from './errors.ts';
import { readEnds, readPartitionsByName } from './partitions-by-name.ts';
import { prepareTopic, type TopicToWrite } from './prepare-topic.ts';
import { ATTEMPTS, disconnect, METADATA_AGE_MS, type RecordProducer } from './producer.ts';

/** A topic that exists, to be written by one process at a time. */
export interface SoleTopic {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly partitions: number;
}

/** The only one of its kind in a topic: what it sends at once is there as a whole or not at all. After an error it is of no more use. */
export interface SoleProducer extends RecordProducer {
  /** The last records of each partition that has any, without null values. Throws a Refusal where all were removed. */
  ends(): Promise<readonly (readonly Uint8Array[])[]>;
  /** All that is sent within the step is there as a whole or not at all. */
  whole(step: () => Promise<void>): Promise<void>;
}

/**
 * The most that brokers allow by default, because a seed of a large network is one transaction. That of a process that died holds
 * readers back for so long, unless another process begins.
 */
const TRANSACTION_TIMEOUT_MS = 900_000;

/** Does not wait for brokers that were never reached: their names may be wrong. */
export async function openSoleTopic(wanted: TopicToWrite & { readonly logger: SourceLogger }): Promise<SoleTopic> {
  const kafka = createKafkaClient(wanted.connection, wanted.logger);
  const { topic } = wanted;
  return { kafka, topic, partitions: await explained('write to', topic, prepareTopic(kafka, wanted)) };
}

/**
 * Takes over a topic: the transactional id is the topic's, and to open it ends whatever another process has begun, which fails
 * with its next message. Only then is it known what the topic holds.
 */
export async function openSoleProducer({ kafka, topic, partitions }: SoleTopic): Promise<SoleProducer> {
  const producer = kafka.producer({
    transactionalId: `holdfast-produce.${topic}`,
    idempotent: true,
    maxInFlightRequests: 1,
    transactionTimeout: TRANSACTION_TIMEOUT_MS,
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
      // One that took too long was ended by the brokers, with the same answer.
      if (!isTakenOver(error) || performance.now() - begunAt >= TRANSACTION_TIMEOUT_MS) throw error;
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
      const messages = records.map(({ partition, value }) => ({ partition, value: value && Buffer.from(value) }));
      const wanted = new Set(records.map(({ partition }) => partition));
      const sendIn = async (transaction: Transaction): Promise<void> => {
        const sent = await explained('write to', topic, transaction.send({ topic, messages, acks: -1 }));
        if (new Set(sent.map(({ partition }) => partition)).size < wanted.size) throw new LeftOut(topic);
      };
      await (open === null ? inTransaction(sendIn) : sendIn(open));
    },
    [Symbol.asyncDispose]: () => disconnect(producer),
  };
}

async function explained<Result>(doing: Doing, topic: string, step: Promise<Result>): Promise<Result> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw cannotUse(topic, doing, error);
  }
}

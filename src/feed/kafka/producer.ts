import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Producer } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { retry } from '../../retry.ts';
import type { SourceLogger } from '../source.ts';
import { createKafkaClient } from './client.ts';
import { cannotUse, type Doing, RETRY_PRODUCING } from './errors.ts';
import { readPartitionsByName } from './partitions-by-name.ts';
import { prepareTopic, type TopicToWrite } from './prepare-topic.ts';

export interface ProducedRecord {
  readonly partition: number;
  readonly value: Uint8Array | null;
}

/** Writes to one topic, in order. */
export interface RecordProducer extends AsyncDisposable {
  readonly partitions: number;
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

export interface TopicProducerOptions extends TopicToWrite {
  readonly logger: SourceLogger;
  /** Aborts waiting for brokers that went away. */
  readonly signal: AbortSignal;
  /** For how long to wait for brokers that were there and went away. */
  readonly retryForMs?: number;
}

/** For a change of leader, where a producer can wait and send nothing twice; after other faults a new one is created. */
export const ATTEMPTS = { retries: 5, initialRetryTime: 200, maxRetryTime: 5_000 };
/** How often kafkajs asks again for partitions and their leaders. */
export const METADATA_AGE_MS = 5_000;
const LEFT_OUT = { attempts: 10, pauseMs: 1_000 };
const DISCONNECT_TIMEOUT_MS = 5_000;
/** How often a long step reports that it is still waiting. */
const NOTICE_MS = 5_000;

/** When a broker goes away, all that it may not have taken is sent again, in the same order. */
export async function openTopicProducer(options: TopicProducerOptions): Promise<RecordProducer> {
  const { topic, logger, signal, retryForMs = RETRY_PRODUCING.forMsMax } = options;
  const kafka = createKafkaClient(options.connection, logger);
  const brokers = options.connection.brokers.join(',');
  const explained = async <Result>(doing: Doing, step: Promise<Result>): Promise<Result> => {
    try {
      return await step;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw cannotUse(topic, doing, error);
    }
  };
  const connected = <Result>(step: Promise<Result>): Promise<Result> =>
    explained(
      'write to',
      withNotice(step, () => logger.info({ topic }, `connecting to Kafka at ${brokers}`)),
    );
  /** Retries a step and reports that it waits: for brokers that are gone, or for one that accepts connections and never answers. */
  const retried = <Result>(doing: Doing, step: () => Promise<Result>, notice: string): Promise<Result> => {
    const policy = { ...RETRY_PRODUCING, forMsMax: retryForMs };
    return retry(policy, () => withNotice(step(), () => logger.info({ topic }, notice)), {
      signal,
      onFailure: ({ error, retryInMs, leftMs }) => {
        const waits = `waiting for it, for ${Math.ceil(leftMs / 1000)} s at most`;
        logger.warn({ topic, err: error, retryInMs }, `${cannotUse(topic, doing, error).message}; ${waits}`);
      },
    });
  };
  // Does not wait for brokers that were never reached: their names may be wrong.
  const partitions = await connected(prepareTopic(kafka, options));
  let producer: Producer | null = await connected(connectedProducer(kafka));

  /** The state of a kafkajs producer that failed is unknown: a new one sends again what may have been sent. */
  async function sendOnce(records: readonly ProducedRecord[]): Promise<readonly ProducedRecord[]> {
    const messages = records.map(({ partition, value }) => ({ partition, value: value && Buffer.from(value) }));
    producer ??= await connectedProducer(kafka);
    try {
      const sent = await producer.send({ topic, messages, acks: -1 });
      // kafkajs silently leaves out records for a partition that it does not know yet, and for one whose leader becomes,
      // while it retries, a broker that has already answered for other partitions.
      const taken = new Set(sent.map(({ partition }) => partition));
      return records.filter(({ partition }) => !taken.has(partition));
    } catch (error) {
      void disconnect(producer);
      producer = null;
      throw error;
    }
  }

  async function sendAll(records: readonly ProducedRecord[]): Promise<void> {
    let left = records;
    for (let attempt = 1; left.length > 0; attempt++) {
      left = await retried('write to', () => sendOnce(left), `waiting for Kafka at ${brokers} to answer`);
      if (left.length === 0) return;
      if (attempt === LEFT_OUT.attempts)
        throw new Error(`partition ${left[0]!.partition} is not accepted by its brokers`);
      await sleep(LEFT_OUT.pauseMs);
    }
  }

  return {
    partitions,
    partitionsByName: (name, { all }) =>
      explained(
        'read',
        retried(
          'read',
          () => readPartitionsByName(kafka, topic, { name, all }),
          `reading topic ${topic} to see which partition has which synchronizer`,
        ),
      ),
    send: (records) => explained('write to', sendAll(records)),
    async [Symbol.asyncDispose]() {
      if (producer !== null) await disconnect(producer);
    },
  };
}

async function connectedProducer(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: true,
    metadataMaxAge: METADATA_AGE_MS,
    retry: ATTEMPTS,
  });
  try {
    await producer.connect();
    return producer;
  } catch (error) {
    void disconnect(producer);
    throw error;
  }
}

/** Everything sent was acknowledged or given up: a broker that does not answer must not delay the end. */
export async function disconnect(producer: Producer): Promise<void> {
  const disconnected = producer.disconnect().catch(() => {});
  await Promise.race([disconnected, sleep(DISCONNECT_TIMEOUT_MS, undefined, { ref: false })]);
}

/** Reports regularly that a step is not done yet. */
async function withNotice<Result>(step: Promise<Result>, say: () => void): Promise<Result> {
  const timer = setInterval(say, NOTICE_MS);
  try {
    return await step;
  } finally {
    clearInterval(timer);
  }
}

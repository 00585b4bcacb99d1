import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Producer, Transaction } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { retry } from '../../retry.ts';
import type { SourceLogger } from '../source.ts';
import { awaitBounds, createKafkaClient, createMissingTopic, type KafkaConnection, withAdmin } from './kafka-client.ts';
import { answeredWith, describeKafkaError, LeftOut, RETRY_PRODUCING } from './kafka-errors.ts';
import { ENDS_LEAST, readEnds, readPartitionsByName, type TopicEnds } from './read-records.ts';

export interface ProducedRecord {
  readonly partition: number;
  readonly value: Uint8Array | null;
}

/** Below Kafka's default limit of a batch, 1 MiB; a larger message is sent alone and needs a topic that allows it. */
const PARTITION_BYTES_MAX = 800_000;
/** What Kafka adds to a record, at most about. */
const RECORD_OVERHEAD_BYTES = 100;

type Value = Uint8Array | string | null;

/** The bytes of a record with this value. */
export function recordBytes(value: Value): number {
  return Buffer.byteLength(value ?? '') + RECORD_OVERHEAD_BYTES;
}

/** In order, with one batch for each partition. */
export function* requestsOf<Sent extends { readonly partition: number; readonly value: Value }>(
  records: readonly Sent[],
): Generator<Sent[]> {
  let request: Sent[] = [];
  let bytes = new Map<number, number>();
  for (const record of records) {
    const { partition, value } = record;
    if (bytes.has(partition) && bytes.get(partition)! + recordBytes(value) > PARTITION_BYTES_MAX) {
      yield request;
      [request, bytes] = [[], new Map()];
    }
    request.push(record);
    bytes.set(partition, (bytes.get(partition) ?? 0) + recordBytes(value));
  }
  if (request.length > 0) yield request;
}

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

export interface PatientProducerOptions extends TopicToWrite {
  readonly logger: SourceLogger;
  /** Aborts waiting for brokers that went away. */
  readonly signal: AbortSignal;
  /** For how long to wait for brokers that were there and went away. */
  readonly retryForMs?: number;
}

/** Enough for a batch over a slow network; a process that died holds readers back for so long. */
const FILES_TIMEOUT_MS = 120_000;
/** How often a long step reports that it is still waiting. */
const NOTICE_MS = 5_000;

/**
 * A sole producer for records that cannot be had again. It waits for brokers that go away, looks whether they have what was being
 * sent, and sends that only if they do not. Its `ends` are to be asked for before anything is sent.
 */
export async function openPatientProducer(options: PatientProducerOptions): Promise<RecordProducer> {
  const { topic: name, logger, signal, retryForMs: forMsMax = RETRY_PRODUCING.forMsMax } = options;
  const brokers = options.connection.brokers.join(',');
  const withNotice = async <Result>(step: Promise<Result>, notice: string): Promise<Result> => {
    const timer = setInterval(() => logger.info({ topic: name }, notice), NOTICE_MS);
    try {
      return await step;
    } finally {
      clearInterval(timer);
    }
  };
  const topic = await withNotice(openSoleTopic(options), `connecting to Kafka at ${brokers}`);
  let producer: SoleProducer | null = null;
  /** The last that is known to be in each partition. */
  const known = new Map<number, Uint8Array>();
  /** False where a producer has failed, and after it another process may have written. */
  let isCertain = true;

  /** Retries a step and reports that it waits: for brokers that are gone, or for one that accepts connections and never answers. */
  const retried = <Result>(step: (sole: SoleProducer) => Promise<Result>, notice: string): Promise<Result> =>
    retry({ ...RETRY_PRODUCING, forMsMax }, () => withNotice(attempt(step), notice), {
      signal,
      onFailure: ({ error, retryInMs, leftMs }) => {
        const waits = `waiting for it, for ${Math.ceil(leftMs / 1000)} s at most`;
        logger.warn({ topic: name, err: error, retryInMs }, `${error.message}; ${waits}`);
      },
    });

  async function attempt<Result>(step: (sole: SoleProducer) => Promise<Result>): Promise<Result> {
    try {
      producer ??= await openSoleProducer(topic, { timeoutMs: FILES_TIMEOUT_MS });
      return await step(producer);
    } catch (error) {
      void producer?.[Symbol.asyncDispose]();
      producer = null;
      isCertain = false;
      throw error;
    }
  }

  /** Whether what was being sent when a producer failed is there. What repeats the end that was there before counts as there too. */
  async function isThere(sole: SoleProducer, records: readonly ProducedRecord[]): Promise<boolean> {
    const ends = await sole.ends();
    const parts = Map.groupBy(records, ({ partition }) => partition);
    // Null values mean nothing: those alone may be there twice.
    const sent = [...parts].map(([partition, of]) => ({ partition, values: of.flatMap(({ value }) => value ?? []) }));
    const withValues = sent.filter(({ values }) => values.length > 0);
    const isEnd = ({ partition, values }: { partition: number; values: Uint8Array[] }): boolean => {
      const last = values.slice(-ENDS_LEAST);
      const held = (ends.get(partition) ?? []).slice(-last.length);
      return held.length === last.length && held.every((value, i) => value.equals(last[i]!));
    };
    if (withValues.length > 0 && withValues.every(isEnd)) return true;
    const isAsKnown = ([partition, values]: [number, readonly Buffer[]]): boolean => {
      const last = known.get(partition);
      return last !== undefined && values.at(-1)?.equals(last) === true;
    };
    if (ends.size === known.size && [...ends].every(isAsKnown)) return false;
    throw new Refusal(
      `another process has written to topic ${name}, and only one may: it ends with other messages than were sent`,
    );
  }

  return {
    partitions: topic.partitions,
    partitionsByName: (nameOf, { all }) =>
      retried(
        (sole) => sole.partitionsByName(nameOf, { all }),
        `reading topic ${name} to see which partition has which synchronizer`,
      ),
    async ends() {
      const ends = await retried((sole) => sole.ends(), `reading where topic ${name} ends`);
      for (const [partition, values] of ends) if (values.length > 0) known.set(partition, values.at(-1)!);
      isCertain = true;
      return ends;
    },
    async send(records) {
      await retried(async (sole) => {
        if (isCertain || !(await isThere(sole, records))) await sole.send(records);
        isCertain = true;
      }, `waiting for Kafka at ${brokers} to answer`);
      for (const { partition, value } of records) if (value !== null) known.set(partition, value);
    },
    async [Symbol.asyncDispose]() {
      await producer?.[Symbol.asyncDispose]();
    },
  };
}

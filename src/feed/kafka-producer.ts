import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { Refusal } from '../refusal.ts';
import { awaitBounds } from './kafka-bounds.ts';
import { createKafkaClient, type FeedLogger, type KafkaConnection } from './kafka-client.ts';
import { MESSAGE_BYTES_MAX } from './kafka-record.ts';
import { describeTrouble } from './kafka-trouble.ts';

export interface ProducedRecord {
  readonly partition: number;
  readonly value: Uint8Array | null;
}

/** Writes to one topic, each record once and in order. */
export interface TopicProducer extends AsyncDisposable {
  readonly partitions: number;
  /**
   * The partition of each name that records bear: of the first named record of each partition, or of all records, which
   * reads the whole topic. Throws a Refusal where one name is in two partitions.
   */
  partitionsByName(
    name: (value: Uint8Array | null) => string | null,
    options: { all: boolean },
  ): Promise<Map<string, number>>;
  /** Resolves when the brokers have it. */
  send(records: readonly ProducedRecord[]): Promise<void>;
}

export interface TopicProducerOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  /** Makes a topic of so many partitions where there is none. */
  readonly create: { readonly partitions: number } | null;
  readonly logger: FeedLogger;
}

/** Room for the largest message that a consumer takes, and what Kafka adds to it. */
const CREATED_MESSAGE_BYTES_MAX = MESSAGE_BYTES_MAX + 1024 * 1024;
const ATTEMPTS = { retries: 8, initialRetryTime: 200, maxRetryTime: 5_000 };
/** How soon what kafkajs knows of partitions and their leaders is asked for again. */
const METADATA_AGE_MS = 5_000;
const LEFT_OUT = { attempts: 10, pauseMs: 1_000 };

export async function openTopicProducer(options: TopicProducerOptions): Promise<TopicProducer> {
  const { topic } = options;
  const kafka = createKafkaClient(options.connection, options.logger);
  const explained = async <Result>(doing: 'read' | 'write to', step: () => Promise<Result>): Promise<Result> => {
    try {
      return await step();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Error(`cannot ${doing} topic ${topic}: ${describeTrouble(error, topic)}`, { cause: error });
    }
  };
  const partitions = await explained('write to', () => preparedPartitions(kafka, options));
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: true,
    metadataMaxAge: METADATA_AGE_MS,
    retry: ATTEMPTS,
  });
  await explained('write to', () => producer.connect());
  return {
    partitions,
    partitionsByName: (name, { all }) => explained('read', () => readNames(kafka, topic, { name, all })),
    async send(records) {
      let left = records;
      for (let attempt = 1; left.length > 0; attempt++) {
        const messages = left.map(({ partition, value }) => ({ partition, value: value && Buffer.from(value) }));
        const sent = await explained('write to', () => producer.send({ topic, messages, acks: -1 }));
        // kafkajs leaves out, without a word, what is for a partition that it does not know yet, and what is for one
        // whose leader becomes, while it tries again, a broker that has answered for other partitions already.
        const taken = new Set(sent.map(({ partition }) => partition));
        left = left.filter(({ partition }) => !taken.has(partition));
        if (left.length === 0) return;
        if (attempt === LEFT_OUT.attempts)
          throw new Error(`cannot write to partition ${left[0]!.partition} of topic ${topic}`);
        await sleep(LEFT_OUT.pauseMs);
      }
    },
    [Symbol.asyncDispose]: () => producer.disconnect(),
  };
}

async function preparedPartitions(kafka: Kafka, { connection, topic, create }: TopicProducerOptions): Promise<number> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const topics = await admin.listTopics();
    if (!topics.includes(topic)) {
      if (create === null) {
        throw new Refusal(`there is no topic ${topic} on ${connection.brokers.join(',')}; --create makes it`);
      }
      await createTopic(admin, topic, create.partitions);
    }
    return (await awaitBounds(kafka, topic)).size;
  } finally {
    await admin.disconnect();
  }
}

async function createTopic(admin: Admin, topic: string, partitions: number): Promise<void> {
  const configEntries = [{ name: 'max.message.bytes', value: String(CREATED_MESSAGE_BYTES_MAX) }];
  // -1: as many replicas as the brokers give by default. Not waited for here: kafkajs fails where a broker has not heard of it.
  await admin.createTopics({
    waitForLeaders: false,
    topics: [{ topic, numPartitions: partitions, replicationFactor: -1, configEntries }],
  });
}

/**
 * Reads each partition from its start until a record bears a name, or to its end where `all` are asked for, in a group of
 * its own that is then removed.
 */
async function readNames(
  kafka: Kafka,
  topic: string,
  { name, all }: { name: (value: Uint8Array | null) => string | null; all: boolean },
): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  const groupId = `holdfast-produce-${randomUUID()}`;
  const retry = { restartOnFailure: async (error: Error): Promise<boolean> => isGroupLoading(error) };
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100, retry });
  try {
    const bounds = await awaitBounds(kafka, topic);
    const ends = new Map(
      [...bounds].flatMap(([partition, { low, high }]) => (low === high ? [] : [[partition, high]])),
    );
    const found = new Map<string, number>();
    const named = new Set<number>();
    if (ends.size === 0) return found;
    const done = Promise.withResolvers<void>();
    // Also for batches of control records, which the handler below never sees.
    consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
      if ((!all && named.has(partition)) || Number(lastOffset) + 1 >= ends.get(partition)!) ends.delete(partition);
      if (ends.size === 0) done.resolve();
    });
    consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
      if (!restart) done.reject(error);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { messages, partition }, pause }) => {
        for (const { value } of messages) {
          const bears = name(value);
          if (bears === null) continue;
          if ((found.get(bears) ?? partition) !== partition) {
            return done.reject(inTwoPartitions(topic, bears, [found.get(bears)!, partition]));
          }
          found.set(bears, partition);
          named.add(partition);
          if (all) continue;
          pause();
          return;
        }
      },
    });
    await done.promise;
    return found;
  } finally {
    await consumer.disconnect();
    await admin.deleteGroups([groupId]).catch(() => {});
    await admin.disconnect();
  }
}

/** A broker that has just started answers so for a moment, and kafkajs does not try again by itself. */
function isGroupLoading(error: Error): boolean {
  return 'type' in error && error.type === 'GROUP_LOAD_IN_PROGRESS';
}

function inTwoPartitions(topic: string, name: string, partitions: readonly number[]): Refusal {
  const both = partitions.toSorted((a, b) => a - b).join(' and ');
  return new Refusal(
    `topic ${topic} holds messages of ${name} in partitions ${both}, whose order nobody can tell: ` +
      'send to another topic',
  );
}

import { randomUUID } from 'node:crypto';
import type { Admin, Kafka } from 'kafkajs';
import { Refusal } from '../refusal.ts';
import { createKafkaClient, type FeedLogger, type KafkaConnection } from './kafka-client.ts';
import { MESSAGE_BYTES_MAX } from './kafka-record.ts';

export interface ProducedRecord {
  readonly partition: number;
  readonly value: Uint8Array | null;
}

/** Writes to one topic, each record once and in order. */
export interface TopicProducer extends AsyncDisposable {
  readonly partitions: number;
  /** The first record of each partition that `name` says something of. */
  firstNamed(name: (value: Uint8Array | null) => string | null): Promise<Map<string, number>>;
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

export async function openTopicProducer(options: TopicProducerOptions): Promise<TopicProducer> {
  const { topic } = options;
  const kafka = createKafkaClient(options.connection, options.logger);
  const partitions = await preparedPartitions(kafka, options);
  const producer = kafka.producer({ allowAutoTopicCreation: false, idempotent: true, retry: ATTEMPTS });
  await producer.connect();
  return {
    partitions,
    firstNamed: (name) => readFirstNamed(kafka, topic, name),
    async send(records) {
      const messages = records.map(({ partition, value }) => ({ partition, value: value && Buffer.from(value) }));
      const taken = await producer.send({ topic, messages, acks: -1 });
      checkTaken(topic, records, new Set(taken.map(({ partition }) => partition)));
    },
    [Symbol.asyncDispose]: () => producer.disconnect(),
  };
}

/** kafkajs leaves out, without a word, what is for a partition that its metadata does not know yet. */
function checkTaken(topic: string, records: readonly ProducedRecord[], taken: ReadonlySet<number>): void {
  const left = records.find(({ partition }) => !taken.has(partition));
  if (left === undefined) return;
  throw new Error(
    `nothing was sent to partition ${left.partition} of topic ${topic}, which the brokers do not know yet; ` +
      'send the files again: what comes twice is skipped by whoever reads the topic',
  );
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
    const metadata = await admin.fetchTopicMetadata({ topics: [topic] });
    return metadata.topics[0]!.partitions.length;
  } finally {
    await admin.disconnect();
  }
}

async function createTopic(admin: Admin, topic: string, partitions: number): Promise<void> {
  const configEntries = [{ name: 'max.message.bytes', value: String(CREATED_MESSAGE_BYTES_MAX) }];
  // -1: as many replicas as the brokers give by default.
  await admin.createTopics({
    waitForLeaders: true,
    topics: [{ topic, numPartitions: partitions, replicationFactor: -1, configEntries }],
  });
}

/** Reads each partition from its start until a record says a name, in a group of its own that is then removed. */
async function readFirstNamed(
  kafka: Kafka,
  topic: string,
  name: (value: Uint8Array | null) => string | null,
): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  const groupId = `holdfast-produce-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 });
  try {
    const bounds = await admin.fetchTopicOffsets(topic);
    const ends = new Map(
      bounds.filter(({ low, high }) => low !== high).map(({ partition, high }) => [partition, Number(high)]),
    );
    const found = new Map<string, number>();
    if (ends.size === 0) return found;
    const done = Promise.withResolvers<void>();
    // Also for batches of control records, which the handler below never sees.
    consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
      const isNamed = [...found.values()].includes(partition);
      if (isNamed || Number(lastOffset) + 1 >= ends.get(partition)!) ends.delete(partition);
      if (ends.size === 0) done.resolve();
    });
    consumer.on('consumer.crash', ({ payload }) => done.reject(payload.error));
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch, pause }) => {
        const named = batch.messages.map(({ value }) => name(value)).find((each) => each !== null);
        if (named !== undefined) found.set(named, batch.partition);
        if (named !== undefined) pause();
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

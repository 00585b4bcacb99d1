import { randomUUID } from 'node:crypto';
import type { Admin, CompressionTypes, Kafka, Message, Producer } from 'kafkajs';
import { awaitBounds, createKafkaClient, type KafkaConnection } from '../../../src/feed/kafka/kafka-client.ts';
import { kafkajs } from '../../../src/feed/kafka/kafkajs.ts';
import { readRecords } from '../../../src/feed/kafka/read-records.ts';
import { keepingLogger } from './reading.ts';
import './compression.ts';

/** One record for a topic of the tests. */
export interface Row {
  readonly partition: number;
  readonly value: string | null;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A topic of a test's own, on a real broker. */
export interface TestTopic {
  readonly name: string;
  /** Of its broker, without TLS or a login. */
  readonly address: string;
  /** In the order given, per partition; one request. */
  send(rows: readonly Row[], compression?: CompressionTypes): Promise<void>;
  /** Sends again and again with one producer. */
  produce(body: (send: (rows: readonly Row[]) => Promise<void>) => Promise<void>): Promise<void>;
  /** In one transaction, which is then committed or aborted: both leave a control record in each partition. */
  sendTransaction(rows: readonly Row[], end: 'commit' | 'abort'): Promise<void>;
  beginTransaction(): Promise<TestTransaction>;
  /** Removes the records before an offset, as retention does. */
  cut(partition: number, offset: number): Promise<void>;
  /** Deletes the topic and makes it again, with the same name. */
  recreate(): Promise<void>;
  /** Resolves when each partition has its leader at work: a broker that was started again listens before that. */
  untilLed(): Promise<void>;
  admin<Result>(body: (admin: Admin) => Promise<Result>): Promise<Result>;
}

export interface TestTransaction {
  send(rows: readonly Row[], key?: Buffer): Promise<void>;
  abort(): Promise<void>;
}

export interface TopicOptions {
  readonly partitions?: number;
  readonly config?: Readonly<Record<string, string>>;
}

/** Until it is known who leads a topic that was just made, however busy its broker is. */
const PATIENCE = { retries: 20, initialRetryTime: 200, maxRetryTime: 2_000 };

export const plainConnection = (address: string): KafkaConnection => ({ brokers: [address], ssl: null, sasl: null });

export async function createTopic(
  address: string,
  { partitions = 1, config = {} }: TopicOptions = {},
): Promise<TestTopic> {
  const kafka = createKafkaClient(plainConnection(address), keepingLogger());
  const name = `t-${randomUUID()}`;

  async function admin<Result>(body: (admin: Admin) => Promise<Result>): Promise<Result> {
    const client = kafka.admin();
    await client.connect();
    try {
      return await body(client);
    } finally {
      await client.disconnect();
    }
  }
  async function withProducer(body: (producer: Producer) => Promise<unknown>): Promise<void> {
    const producer = kafka.producer({ allowAutoTopicCreation: false, retry: PATIENCE });
    await producer.connect();
    try {
      await body(producer);
    } finally {
      await producer.disconnect();
    }
  }
  async function connectedTransactionalProducer(transactionalId: string = randomUUID()): Promise<Producer> {
    const producer = kafka.producer({ transactionalId, maxInFlightRequests: 1, idempotent: true, retry: PATIENCE });
    await producer.connect();
    return producer;
  }
  const configEntries = Object.entries(config).map(([key, value]) => ({ name: key, value }));
  const topics = [{ topic: name, numPartitions: partitions, configEntries }];
  await admin((client) => client.createTopics({ topics, waitForLeaders: false }));
  // Answered once each partition has its leader at work. What is sent before would be sent again, to the other partitions too.
  await awaitBounds(kafka, name);

  return {
    name,
    address,
    admin,
    async send(rows, compression = kafkajs.CompressionTypes.None) {
      await withProducer((producer) => producer.send({ topic: name, messages: [...rows] as Message[], compression }));
    },
    async produce(body) {
      await withProducer((producer) =>
        body(async (rows) => void (await producer.send({ topic: name, messages: [...rows] as Message[] }))),
      );
    },
    async sendTransaction(rows, end) {
      const transactionalId = randomUUID();
      const producer = await connectedTransactionalProducer(transactionalId);
      const transaction = await producer.transaction();
      await transaction.send({ topic: name, messages: [...rows] as Message[] });
      await (end === 'commit' ? transaction.commit() : transaction.abort());
      await producer.disconnect();
      await untilEnded(kafka, transactionalId);
    },
    async beginTransaction() {
      const producer = await connectedTransactionalProducer();
      const transaction = await producer.transaction();
      return {
        async send(rows, key) {
          const messages = rows.map((row) => (key === undefined ? row : { ...row, key }));
          await transaction.send({ topic: name, messages: messages as Message[] });
        },
        async abort() {
          await transaction.abort();
          await producer.disconnect();
        },
      };
    },
    cut: (partition, offset) =>
      admin(async (client) => {
        // deleteTopicRecords fails on a client that has not used the topic before.
        await client.fetchTopicOffsets(name);
        await client.deleteTopicRecords({ topic: name, partitions: [{ partition, offset: String(offset) }] });
      }),
    recreate: () =>
      admin(async (client) => {
        await client.deleteTopics({ topics: [name] });
        // At once: who writes next waits for it to be known.
        while (!(await client.createTopics({ topics, waitForLeaders: false })));
      }),
    untilLed: async () => void (await awaitBounds(kafka, name)),
  };
}

/**
 * The brokers end a transaction in each partition a moment after they have said that it is there; what is sent to the topic before has
 * the offset of that end. Who opens the transactional id waits for it, and is the only one that can use it then.
 */
async function untilEnded(kafka: Kafka, transactionalId: string): Promise<void> {
  const producer = kafka.producer({ transactionalId, maxInFlightRequests: 1, idempotent: true, retry: PATIENCE });
  await producer.connect();
  try {
    await (await producer.transaction()).abort();
  } finally {
    await producer.disconnect();
  }
}

/** Every record of a topic but those of aborted transactions, by partition and offset. */
export async function readTopic(address: string, topic: string): Promise<Row[]> {
  const kafka = createKafkaClient(plainConnection(address), keepingLogger());
  const rows: Row[] = [];
  const fromStart = ({ low }: { low: number }): number => low;
  await readRecords(kafka, topic, fromStart, (partition, values) => {
    rows.push(...values.map((value) => ({ partition, value: value === null ? null : value.toString() })));
  });
  return rows.sort((a, b) => a.partition - b.partition);
}

import { z } from 'zod';
import {
  awaitBounds,
  createKafkaClient,
  type KafkaConnection,
  readBounds,
  withAdmin,
} from '../feed/kafka/kafka-client.ts';
import { describeKafkaError } from '../feed/kafka/kafka-errors.ts';
import { readRecords, WHILE_GROUP_LOADS } from '../feed/kafka/read-records.ts';
import type { SourceLogger } from '../feed/source.ts';
import { jsonOrNull } from '../json/untrusted.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { type GroupSettings, keptSettings } from './position.ts';

/** A topic of flat events, as who reads it finds it. */
export interface FlatTopic {
  /** The first offset that each partition has, and its end. */
  readonly bounds: ReadonlyMap<number, { readonly low: number; readonly high: number }>;
  /** What the members of the group decode with; null where it has committed nothing. */
  readonly decodedWith: Pick<GroupSettings, 'dso' | 'periodUs'> | null;
  /** How far its reader's group has read each partition, where it has said so. */
  readonly read: ReadonlyMap<number, number>;
}

interface FlatTopicQuestion {
  readonly topic: string;
  /** Of the decoders. */
  readonly group: string;
  /** The group of who reads the events. */
  readonly reader: string;
  readonly periodUs: number;
}

/** What is looked at of an event. */
const EVENT = z.object({ k: z.string().length(1), m: z.int(), t: z.int().nullish(), clk: z.int(), seq: z.int() });

/**
 * Looks at a topic and at the group of its decoders. Throws a Refusal for a topic that cannot be read, whose events are not
 * flat ones or have other intervals than of that period, and for a group that decodes into another one, or with several settings.
 */
export async function lookAtFlatTopic(
  connection: KafkaConnection,
  { topic, group, reader, periodUs }: FlatTopicQuestion,
  logger: SourceLogger,
): Promise<FlatTopic> {
  const kafka = createKafkaClient(connection, logger);
  try {
    const bounds = await awaitBounds(kafka, topic);
    await readRecords(kafka, topic, {
      from: ({ low }) => low,
      each(partition, values) {
        const [first] = values;
        if (first === undefined) return false;
        checkEvent(first, { where: `partition ${partition} of topic ${topic}`, periodUs });
        return true;
      },
    });
    return await withAdmin(kafka, async (admin) => {
      const committed = await admin.fetchOffsets({ groupId: group });
      const texts = committed.flatMap(({ partitions }) => partitions.map(({ metadata }) => metadata));
      const [reached] = await admin.fetchOffsets({ groupId: reader, topics: [topic] });
      const offsets = (reached?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
      // Kafka's word for none is -1.
      const read = new Map(offsets.filter(([, offset]) => offset >= 0));
      return { bounds, decodedWith: keptSettings(texts, group, topic), read };
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`topic ${topic} cannot be read: ${describeKafkaError(error, topic)}`, { cause: error });
  }
}

/** Commits for the reader's group that it begins at the first event of each partition. */
export async function beginAtFirst(
  connection: KafkaConnection,
  { topic, reader, partitions }: { topic: string; reader: string; partitions: readonly number[] },
  logger: SourceLogger,
): Promise<void> {
  // The admin's way to set offsets waits for ever where the group cannot be joined.
  const consumer = createKafkaClient(connection, logger).consumer({
    groupId: reader,
    allowAutoTopicCreation: false,
    retry: WHILE_GROUP_LOADS,
  });
  const joined = Promise.withResolvers<void>();
  // It may fail before it is awaited.
  joined.promise.catch(() => {});
  consumer.on('consumer.group_join', () => joined.resolve());
  consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
    if (!restart) joined.reject(error);
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic] });
    await consumer.run({ autoCommit: false, eachBatch: async () => {} });
    await joined.promise;
    await consumer.commitOffsets(partitions.map((partition) => ({ topic, partition, offset: '0' })));
  } catch (error) {
    throw new Refusal(`group ${reader} cannot begin topic ${topic}: ${describeKafkaError(error, topic)}`, {
      cause: error,
    });
  } finally {
    await consumer.disconnect();
  }
}

/** The end of each partition, as of now. */
export async function endsOf(
  connection: KafkaConnection,
  topic: string,
  logger: SourceLogger,
): Promise<Map<number, number>> {
  try {
    const bounds = await withAdmin(createKafkaClient(connection, logger), (admin) => readBounds(admin, topic));
    return new Map([...bounds].map(([partition, { high }]) => [partition, high]));
  } catch (error) {
    throw new Error(describeKafkaError(error, topic), { cause: error });
  }
}

function checkEvent(value: Buffer | null, { where, periodUs }: { where: string; periodUs: number }): void {
  const event = EVENT.safeParse(jsonOrNull(String(value)));
  if (!event.success) {
    throw new Refusal(
      `${where} has no flat coin events but ${showGiven(value?.toString() ?? null)}: name the topic that holdfast decode writes to`,
    );
  }
  const { t, seq } = event.data;
  if (t == null || Math.ceil(t / periodUs) === seq) return;
  throw new Refusal(
    `${where} was decoded with another --snapshot-period than the store's of ${periodUs} microseconds: ` +
      `an event of ${t} is in interval ${seq}, not ${Math.ceil(t / periodUs)}`,
  );
}

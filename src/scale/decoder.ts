import type { Kafka } from 'kafkajs';
import { counted } from '../counted.ts';
import {
  awaitBounds,
  createKafkaClient,
  createMissingTopic,
  type KafkaConnection,
  readBounds,
  withAdmin,
} from '../feed/kafka/kafka-client.ts';
import { describeKafkaError, passesReopened, RETRY_READING } from '../feed/kafka/kafka-errors.ts';
import type { SourceLogger } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { createPauses } from '../retry.ts';
import { type DecoderFigures, runMember } from './decoder-member.ts';
import type { DecodedBatch, DecodeRules } from './partition-batch.ts';
import type { DecoderTopics } from './partition-lane.ts';

export interface DecoderOptions {
  readonly connection: KafkaConnection;
  readonly group: string;
  readonly topics: DecoderTopics;
  /** Whether topics to write to are created where they are missing. */
  readonly create: boolean;
  readonly rules: Omit<DecodeRules, 'now' | 'dropped'>;
  /** Messages that are not decoded where a partition is halted at them: offsets by partition. */
  readonly dropped: ReadonlyMap<number, ReadonlySet<number>>;
  readonly markIntervalMs: number;
  /** After how long the group gives a silent member's partitions to others. */
  readonly sessionTimeoutMs?: number;
  readonly figures: DecoderFigures;
  readonly logger: SourceLogger;
}

export const DECODE_GROUP_DEFAULT = 'holdfast-decode';
const SESSION_TIMEOUT_MS = 10_000;
const NONE: ReadonlySet<number> = new Set();

/**
 * Decodes as a member of a group until the signal aborts: reads a topic of updates and writes their flat events to another. After
 * an error that may pass it joins again; it throws any other.
 */
export async function runDecoder(options: DecoderOptions, signal: AbortSignal): Promise<void> {
  const { connection, topics, rules, dropped, figures, logger, sessionTimeoutMs = SESSION_TIMEOUT_MS } = options;
  const kafka = createKafkaClient(connection, logger);
  const { dso, periodUs, migrationId } = rules;
  const pauses = createPauses({ ...RETRY_READING, passes: passesReopened }, { signal });
  while (!signal.aborted) {
    try {
      const { brokers } = connection;
      const partitions = await prepareTopics(kafka, { topics, brokers, create: options.create });
      figures.topicPartitions = partitions;
      const member = {
        ...options,
        kafka,
        settings: { flatTopic: topics.flat, dso, periodUs, migrationId },
        partitions,
        rules: (partition: number) => ({ ...rules, now: Date.now() * 1000, dropped: dropped.get(partition) ?? NONE }),
        sessionTimeoutMs,
        onDecoded(batch: DecodedBatch) {
          pauses.afterSuccess();
          figures.messages += batch.messages;
          figures.events += batch.events.length;
          for (const { decision } of batch.bad) figures.deadLetters[decision] += 1;
        },
      };
      await runMember(member, signal);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const reason = describeKafkaError(error, topics.input);
      if (!passesReopened(error)) throw new Error(`the decoder stopped: ${reason}`, { cause: error });
      await pauses.afterFailure(error, ({ retryInMs }) =>
        logger.warn({ topic: topics.input, err: error, retryInMs }, `cannot decode topic ${topics.input}: ${reason}`),
      );
    }
  }
}

/** How many partitions there are. Creates what is missing where that is wanted; throws a Refusal for what does not fit. */
async function prepareTopics(
  kafka: Kafka,
  { topics, brokers, create }: { topics: DecoderTopics; brokers: readonly string[]; create: boolean },
): Promise<number> {
  const { size: partitions } = await awaitBounds(kafka, topics.input);
  await withAdmin(kafka, async (admin) => {
    await createMissingTopic(admin, { topic: topics.flat, brokers, partitions: create ? partitions : null });
    await createMissingTopic(admin, { topic: topics.deadLetters, brokers, partitions: create ? 1 : null });
  });
  const { size: flat } = await awaitBounds(kafka, topics.flat);
  await awaitBounds(kafka, topics.deadLetters);
  if (flat === partitions) return partitions;
  throw new Refusal(
    `topic ${topics.flat} has ${counted(flat, 'partition')}, and topic ${topics.input} ${partitions}: they must have as many`,
  );
}

/** How long a request for metrics waits for the lag. */
const LAG_MS_MAX = 3_000;

/** Counts the messages that the partitions of this process have left; null while no broker says so of each of them. */
export function createLagReader(
  figures: DecoderFigures,
  { connection, topic, logger }: { connection: KafkaConnection; topic: string; logger: SourceLogger },
): () => Promise<number | null> {
  const kafka = createKafkaClient(connection, logger);
  async function lag(): Promise<number | null> {
    const bounds = await withAdmin(kafka, (admin) => readBounds(admin, topic));
    let left = 0;
    for (const [partition, { position }] of figures.partitions) {
      const end = bounds.get(partition)?.high;
      if (end === undefined) return null;
      left += Math.max(end - position.next, 0);
    }
    return left;
  }
  return () => {
    const late = new Promise<null>((resolve) => setTimeout(resolve, LAG_MS_MAX, null).unref());
    return Promise.race([lag().catch(() => null), late]);
  };
}

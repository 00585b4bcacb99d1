import { setTimeout as sleep } from 'node:timers/promises';
import type { EachBatchPayload, Kafka } from 'kafkajs';
import { counted } from '../counted.ts';
import {
  awaitBounds,
  closed,
  createKafkaClient,
  createMissingTopic,
  type KafkaConnection,
  READER_CONFIG,
  withAdmin,
} from '../feed/kafka/kafka-client.ts';
import { describeKafkaError, passesReopened, RETRY_READING } from '../feed/kafka/kafka-errors.ts';
import { recordsOf } from '../feed/kafka/kafka-record.ts';
import type { SourceLogger } from '../feed/source.ts';
import type { BadUpdate } from '../ledger/bad-update.ts';
import { Refusal } from '../refusal.ts';
import { createPauses } from '../retry.ts';
import type { RecordDecision } from './partition-batch.ts';
import { type GroupOptions, type Lane, openLane } from './partition-lane.ts';

export interface DecoderOptions extends GroupOptions {
  readonly connection: KafkaConnection;
  /** Whether topics to write to are created where they are missing. */
  readonly create: boolean;
  /** Messages that are not decoded where a partition is halted at them: offsets by partition. */
  readonly dropped: ReadonlyMap<number, ReadonlySet<number>>;
  readonly markIntervalMs: number;
  /** After how long the group gives a silent member's partitions to others. */
  readonly sessionTimeoutMs?: number;
  readonly figures: DecoderFigures;
  readonly logger: SourceLogger;
}

/** What this process has done, and does now, for its metrics. */
export interface DecoderFigures {
  /** Those that it has now. */
  readonly partitions: Map<number, Lane>;
  /** Of the topic; null before that is known. */
  topicPartitions: number | null;
  messages: number;
  events: number;
  readonly deadLetters: Record<RecordDecision, number>;
}

export function createFigures(): DecoderFigures {
  const deadLetters = { halted: 0, quarantined: 0, dropped: 0 };
  return { partitions: new Map(), topicPartitions: null, messages: 0, events: 0, deadLetters };
}

export const DECODE_GROUP_DEFAULT = 'holdfast-decode';
const SESSION_TIMEOUT_MS = 10_000;
/** Also how much one transaction decodes. */
const FETCH_BYTES_MAX_PER_PARTITION = 1024 * 1024;
/** While one partition waits for its transaction, others are decoded. */
const PARTITIONS_AT_ONCE = 4;

/**
 * Decodes as a member of a group until the signal aborts: reads a topic of updates and writes their flat events to another. After
 * an error that may pass it joins again; it throws any other.
 */
export async function runDecoder(options: DecoderOptions, signal: AbortSignal): Promise<void> {
  const { connection, topics, figures, logger } = options;
  const kafka = createKafkaClient(connection, logger);
  const pauses = createPauses({ ...RETRY_READING, passes: passesReopened }, { signal });
  while (!signal.aborted) {
    try {
      figures.topicPartitions = await prepareTopics(kafka, options);
      await runMember(kafka, options, { signal, onDecoded: pauses.afterSuccess });
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
async function prepareTopics(kafka: Kafka, { topics, connection, create }: DecoderOptions): Promise<number> {
  const { brokers } = connection;
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

/** One membership of the group, from joining to the first failure, which it throws, or to the signal. */
async function runMember(
  kafka: Kafka,
  options: DecoderOptions,
  { signal, onDecoded }: { signal: AbortSignal; onDecoded: () => void },
): Promise<void> {
  const { group, topics, dropped, figures, logger, sessionTimeoutMs = SESSION_TIMEOUT_MS } = options;
  const { input: topic } = topics;
  const consumer = kafka.consumer({
    ...READER_CONFIG,
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: Math.floor(sessionTimeoutMs / 10),
    maxBytesPerPartition: FETCH_BYTES_MAX_PER_PARTITION,
  });
  const lanes = new Map<number, Promise<Lane>>();
  /** Partitions that wait for our clock. */
  const waiting = new Set<number>();
  const soughtBack = new Map<number, number>();
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {});
  signal.addEventListener('abort', () => ended.resolve());
  if (signal.aborted) ended.resolve();

  function take(partition: number): void {
    if (partition >= figures.topicPartitions!)
      return ended.reject(
        new Refusal(`topic ${topic} has a new partition ${partition}: topic ${topics.flat} needs it too`),
      );
    const lane = openLane(kafka, options, { partition, dropped: dropped.get(partition) ?? new Set() });
    lanes.set(partition, lane);
    // It may have been stopped when we had it before.
    waiting.delete(partition);
    consumer.resume([{ topic, partitions: [partition] }]);
    lane.then((opened) => {
      logger.info({ topic, partition, offset: opened.position.next }, 'decoding a partition');
      if (lanes.get(partition) === lane) figures.partitions.set(partition, opened);
    }, ended.reject);
  }

  function leave(partition: number): void {
    const lane = lanes.get(partition);
    lanes.delete(partition);
    figures.partitions.delete(partition);
    lane?.then((opened) => opened.close()).catch(() => {});
  }

  consumer.on('consumer.crash', ({ payload }) => ended.reject(payload.error));
  consumer.on('consumer.group_join', ({ payload }) => {
    const assigned = payload.memberAssignment[topic] ?? [];
    logger.info({ topic, group, partitions: assigned }, 'joined the consumer group');
    for (const partition of [...lanes.keys()]) if (!assigned.includes(partition)) leave(partition);
    for (const partition of assigned) if (!lanes.has(partition)) take(partition);
  });
  // The only sign of a batch of nothing but control records or aborted messages.
  consumer.on('consumer.end_batch_process', ({ payload }) => {
    if (payload.batchSize > 0) return;
    lanes.get(payload.partition)?.then(
      (lane) => lane.skipTo(Number(payload.lastOffset) + 1),
      () => {},
    );
  });

  const seek = (partition: number, offset: number): void => consumer.seek({ topic, partition, offset: String(offset) });

  async function decodeFetched(lane: Lane, { batch }: EachBatchPayload): Promise<void> {
    const { partition } = batch;
    const { next } = lane.position;
    const fetchedOffset = Number((batch as unknown as { readonly fetchedOffset: string }).fetchedOffset);
    if (fetchedOffset > next) return seekBack(partition, next, fetchedOffset);
    soughtBack.delete(partition);
    const records = recordsOf(partition, batch.messages, fetchedOffset);
    const decoded = await lane.decode(records);
    onDecoded();
    figures.messages += decoded.messages;
    figures.events += decoded.events.length;
    for (const { decision } of decoded.bad) figures.deadLetters[decision] += 1;
    lane.stopped = null;
    if (decoded.stoppedBy !== null) stopAt(lane, decoded.stoppedBy);
    else if (records.at(-1)?.broken === undefined) lane.skipTo(Number(batch.lastOffset()) + 1);
    else seek(partition, lane.position.next);
  }

  /** A batch may have been fetched before a partition was stopped; but what is asked for and not given is lost. */
  function seekBack(partition: number, next: number, fetchedOffset: number): void {
    if (soughtBack.get(partition) === next)
      throw new Refusal(
        `partition ${partition} of topic ${topic}: decoded up to offset ${next}, and the next message held is ${fetchedOffset}: ` +
          'messages were removed before they were decoded',
      );
    soughtBack.set(partition, next);
    seek(partition, next);
  }

  /** Reads a partition no further; what only waits for our clock is tried again with the next marks. */
  function stopAt(lane: Lane, reason: BadUpdate): void {
    const { partition, position } = lane;
    const { next } = position;
    consumer.pause([{ topic, partitions: [partition] }]);
    seek(partition, next);
    const waits = reason.code === 'ahead_of_clock';
    if (waits) waiting.add(partition);
    lane.stopped = waits ? 'ahead_of_clock' : 'halted';
    const advice = `${waits ? 'waiting until our clock is there; ' : ''}--drop ${partition}:${next} goes on without it`;
    const fields = { topic, partition, offset: next, reason: reason.message };
    logger.error(fields, `partition ${partition} stopped: ${advice}`);
  }

  /** Runs a step with a partition's lane. A failure in one that was left meanwhile concerns the member that has it now. */
  async function withLane(partition: number, step: (lane: Lane) => Promise<void>): Promise<void> {
    const lane = lanes.get(partition);
    try {
      if (lane !== undefined) await step(await lane);
    } catch (error) {
      if (lanes.get(partition) === lane) throw error;
      logger.info({ topic, partition, err: error }, 'a partition was left before its messages were stored');
    }
  }

  const marking = new AbortController();
  async function keepMarking(): Promise<void> {
    for (;;) {
      await sleep(options.markIntervalMs, null, { signal: marking.signal }).catch(() => {});
      if (marking.signal.aborted) return;
      for (const partition of lanes.keys()) await withLane(partition, (lane) => lane.mark());
      for (const partition of waiting) consumer.resume([{ topic, partitions: [partition] }]);
      waiting.clear();
    }
  }
  keepMarking().catch(ended.reject);

  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: (payload) =>
        withLane(payload.batch.partition, (lane) => decodeFetched(lane, payload)).catch(ended.reject),
    });
    await ended.promise;
  } finally {
    marking.abort();
    figures.partitions.clear();
    // What was begun is stored, or has failed.
    await closed([consumer.disconnect(), ...[...lanes.values()].map(async (lane) => (await lane).close())]);
  }
}

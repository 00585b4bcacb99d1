import { setTimeout as sleep } from 'node:timers/promises';
import type { EachBatchPayload } from 'kafkajs';
import { closed, READER_CONFIG } from '../feed/kafka/kafka-client.ts';
import { recordsOf } from '../feed/kafka/kafka-record.ts';
import type { SourceLogger } from '../feed/source.ts';
import type { BadUpdate } from '../ledger/bad-update.ts';
import { Refusal } from '../refusal.ts';
import type { Decision, DecodedBatch, DecodeRules } from './partition-batch.ts';
import { type Lane, type LaneOptions, openLane } from './partition-lane.ts';

/** What this process has done, and does now, for its metrics. */
export interface DecoderFigures {
  /** Those that it has now. */
  readonly partitions: Map<number, Lane>;
  /** Of the topic; null before that is known. */
  topicPartitions: number | null;
  messages: number;
  events: number;
  readonly deadLetters: Record<Decision, number>;
}

export function createFigures(): DecoderFigures {
  const deadLetters = { halted: 0, quarantined: 0, dropped: 0 };
  return { partitions: new Map(), topicPartitions: null, messages: 0, events: 0, deadLetters };
}

export interface MemberOptions extends LaneOptions {
  readonly partitions: number;
  /** The rules for the messages of a partition, as of now. */
  readonly rules: (partition: number) => DecodeRules;
  readonly sessionTimeoutMs: number;
  readonly markIntervalMs: number;
  readonly figures: DecoderFigures;
  readonly logger: SourceLogger;
  readonly onDecoded: (batch: DecodedBatch) => void;
}

/** Also how much one transaction decodes. */
const FETCH_BYTES_MAX_PER_PARTITION = 1024 * 1024;
/** While one partition waits for its transaction, others are decoded. */
const PARTITIONS_AT_ONCE = 4;

/** One membership of the group, from joining to the first failure, which it throws, or to the signal. */
export async function runMember(options: MemberOptions, signal: AbortSignal): Promise<void> {
  const { kafka, group, topics, figures, sessionTimeoutMs, logger } = options;
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
    if (partition >= options.partitions)
      return ended.reject(
        new Refusal(`topic ${topic} has a new partition ${partition}: topic ${topics.flat} needs it too`),
      );
    const lane = openLane(options, partition);
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

  async function decodeFetched(lane: Lane, { batch }: EachBatchPayload): Promise<void> {
    const { partition } = batch;
    const { next } = lane.position;
    const fetchedOffset = Number((batch as unknown as { readonly fetchedOffset: string }).fetchedOffset);
    if (fetchedOffset > next) return seekBack(partition, next, fetchedOffset);
    soughtBack.delete(partition);
    const records = recordsOf(partition, batch.messages, fetchedOffset);
    const decoded = await lane.decode(records, options.rules(partition));
    options.onDecoded(decoded);
    lane.stopped = null;
    if (decoded.stoppedBy !== null) stopAt(lane, decoded.stoppedBy);
    else if (records.at(-1)?.broken === undefined) lane.skipTo(Number(batch.lastOffset()) + 1);
    else consumer.seek({ topic, partition, offset: String(lane.position.next) });
  }

  /** A batch may have been fetched before a partition was stopped; but what is asked for and not given is lost. */
  function seekBack(partition: number, next: number, fetchedOffset: number): void {
    if (soughtBack.get(partition) === next)
      throw new Refusal(
        `partition ${partition} of topic ${topic}: decoded up to offset ${next}, and the next message held is ${fetchedOffset}: ` +
          'messages were removed before they were decoded',
      );
    soughtBack.set(partition, next);
    consumer.seek({ topic, partition, offset: String(next) });
  }

  /** Reads a partition no further; what only waits for our clock is tried again with the next marks. */
  function stopAt(lane: Lane, reason: BadUpdate): void {
    const { partition, position } = lane;
    const { next } = position;
    consumer.pause([{ topic, partitions: [partition] }]);
    consumer.seek({ topic, partition, offset: String(next) });
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

  async function markAll(): Promise<void> {
    for (const partition of lanes.keys()) await withLane(partition, (lane) => lane.mark());
    for (const partition of waiting) consumer.resume([{ topic, partitions: [partition] }]);
    waiting.clear();
  }
  const marking = new AbortController();
  async function keepMarking(): Promise<void> {
    while (!marking.signal.aborted) {
      await sleep(options.markIntervalMs, null, { signal: marking.signal }).catch(() => {});
      if (!marking.signal.aborted) await markAll();
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

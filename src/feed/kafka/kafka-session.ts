import { setTimeout as sleep } from 'node:timers/promises';
import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { Message, SourceLogger } from '../source.ts';
import { type IntakeOptions, KafkaIntake } from './intake.ts';
import { closed, READER_CONFIG, readBounds } from './kafka-client.ts';
import { MayPass } from './kafka-errors.ts';
import { checkIdentity, identityText, type StoredTopic, startOffsets } from './kafka-positions.ts';
import { createLoneConsumer } from './lone-consumer.ts';

/** How often the ends of the partitions are requested, which readiness and idle partitions depend on, and the position is committed. */
const BOUNDS_INTERVAL_MS = 1_000;
const FETCH_BYTES_MAX = 8 * 1024 * 1024;

export interface SessionOptions extends Omit<IntakeOptions, 'starts'> {
  readonly kafka: Kafka;
  readonly group: string;
  /** The positions after what was returned before, whether it is stored by now or not. */
  readonly from: StoredTopic;
  readonly logger: SourceLogger;
  /** Called when messages came or the state changed. */
  readonly onChange: () => void;
}

/** One reading of the topic, from connecting to the first failure. */
export type Session = Awaited<ReturnType<typeof openSession>>;

/** Connects, compares the topic with what the views were built from, and starts to consume. */
export async function openSession(options: SessionOptions) {
  const { kafka, topic, group, from, stored, logger, onChange } = options;
  await using opening = new AsyncDisposableStack();
  const admin = kafka.admin();
  opening.defer(() => closed([admin.disconnect()]));
  await admin.connect();
  const { clusterId } = await admin.describeCluster();
  checkIdentity(from.identity, { clusterId, topic });
  const starts = startOffsets(topic, from, await readBounds(admin, topic));
  for (const [partition, { verify, position }] of starts) {
    if (verify || position.sha256 === null) continue;
    const warning = 'the last applied message is no longer in the topic, but what follows it is: continuing';
    logger.warn({ topic, partition }, warning);
  }
  const intake = new KafkaIntake({ ...options, starts });
  const { consumer, commit: commitOffsets } = createLoneConsumer(kafka, {
    groupId: group,
    ...READER_CONFIG,
    maxBytesPerPartition: intake.fetchBytes,
    maxBytes: FETCH_BYTES_MAX,
  });
  opening.defer(() => closed([consumer.disconnect()]));
  const closing = new AbortController();
  let failure: unknown = null;
  const paused = new Set<number>();
  let committed = '';
  let hasWarned = false;

  function fail(error: unknown): void {
    failure ??= error;
    onChange();
  }

  consumer.on('consumer.crash', ({ payload }) => fail(payload.error));
  consumer.on('consumer.group_join', ({ payload }) => {
    for (const partition of payload.memberAssignment[topic] ?? []) {
      const next = intake.nextFetch(partition);
      if (next === undefined) return fail(new MayPass(`topic ${topic} has a new partition ${partition}`));
      // At once: an await here would race with the first fetch.
      consumer.seek({ topic, partition, offset: String(next) });
    }
    logger.info({ topic, partitions: starts.size }, 'reading the topic');
  });
  // The only sign of a batch of nothing but control records or aborted messages.
  consumer.on('consumer.end_batch_process', ({ payload }) => {
    try {
      if (failure === null) intake.advance(payload.partition, Number(payload.lastOffset) + 1);
    } catch (error) {
      fail(error);
    }
    onChange();
  });

  async function receive({ batch, pause }: EachBatchPayload): Promise<void> {
    if (failure !== null) return;
    const { partition, messages } = batch;
    // Not in its types. Where an offset is out of range, kafkajs fetches from another one.
    const { fetchedOffset } = batch as unknown as { readonly fetchedOffset: string };
    try {
      intake.receive(partition, Number(fetchedOffset), messages);
      if (!intake.isFull(partition)) return;
      paused.add(partition);
      pause();
    } catch (error) {
      fail(error);
    }
  }

  function resumeDrained(): void {
    for (const partition of paused) {
      if (!intake.hasRoom(partition)) continue;
      try {
        consumer.resume([{ topic, partitions: [partition] }]);
      } catch {
        // It has stopped by itself; its crash event, with the reason, follows.
        return;
      }
      paused.delete(partition);
    }
  }

  /** Only lag tools read what is committed, so a session logs its first failure and reads on. */
  async function commit(): Promise<void> {
    const offsets = new Map([...stored.keys()].map((each) => [each, intake.storedThrough(each)]));
    const text = JSON.stringify([...offsets]);
    if (offsets.size === 0 || text === committed) return;
    committed = text;
    await commitOffsets(topic, offsets).catch((error: unknown) => {
      if (failure !== null || hasWarned) return;
      hasWarned = true;
      logger.warn({ err: error, topic, group }, 'cannot commit the position to Kafka: only tools for its lag read it');
    });
  }

  async function followBounds(): Promise<void> {
    while (!closing.signal.aborted) {
      const [at, read] = [Date.now(), intake.readTo()];
      const bounds = await readBounds(admin, topic);
      if (bounds.size !== starts.size) throw new MayPass(`topic ${topic} has other partitions`);
      intake.noteBounds(at, read, bounds);
      onChange();
      void commit();
      await sleep(BOUNDS_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  consumer.run({ autoCommit: false, eachBatch: receive }).catch(fail);
  followBounds().catch((error: unknown) => {
    if (!closing.signal.aborted) fail(error);
  });
  opening.move();

  return {
    /** What its positions belong to. */
    identity: identityText({ clusterId, topic }),
    intake,
    /** The next messages in order, at most `max`. Throws the error that ended the session. */
    take(max: number): readonly Message[] {
      if (failure !== null) throw failure;
      resumeDrained();
      return intake.take(max);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort();
      failure ??= new Error('the session was closed');
      await closed([consumer.disconnect(), admin.disconnect()]);
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Message, SourceLogger } from '../source.ts';
import { type IntakeOptions, KafkaIntake } from './intake.ts';
import { READER_CONFIG, readBounds } from './kafka-client.ts';
import { SessionOver } from './kafka-errors.ts';
import { checkIdentity, identityText, type StoredTopic, startOffsets } from './kafka-positions.ts';
import { createLoneConsumer } from './lone-consumer.ts';

/** How often the ends of the partitions are requested, which readiness and idle partitions depend on. */
const BOUNDS_INTERVAL_MS = 1_000;
const FETCH_BYTES_MAX = 8 * 1024 * 1024;
const DISCONNECT_TIMEOUT_MS = 5_000;
/** How often the clocks are read, and how much more than that may have passed. */
const WATCH_MS = 250;
const STOOD_STILL_MS = 2_000;

export interface SessionOptions extends Omit<IntakeOptions, 'starts'> {
  readonly kafka: Kafka;
  readonly group: string;
  /** The positions after what was returned before, whether it is stored by now or not. */
  readonly from: StoredTopic;
  readonly guards: SessionGuards;
  readonly logger: SourceLogger;
  /** Called when messages came or the state changed. */
  readonly onChange: () => void;
}

/** Steps that keep kafkajs from continuing at an offset of its own choice. */
export interface SessionGuards {
  /** Called synchronously when the partitions are assigned: an await there would race with the first fetch. */
  readonly seek: (consumer: Consumer, at: { topic: string; partition: number; offset: string }) => void;
  /** The offset that a batch was fetched from, null to trust kafkajs. Not in its types. */
  readonly fetchedOffset: (batch: EachBatchPayload['batch']) => number | null;
}

export const SESSION_GUARDS: SessionGuards = {
  seek: (consumer, at) => consumer.seek(at),
  fetchedOffset: (batch) => Number((batch as unknown as { readonly fetchedOffset: string }).fetchedOffset),
};

/** One reading of the topic, from connecting to the first failure. */
export interface Session extends AsyncDisposable {
  /** What its positions belong to. */
  readonly identity: string;
  readonly intake: KafkaIntake;
  /** The next messages in order, at most `max`. Throws the error that ended the session. */
  take(max: number): readonly Message[];
  /** Commits to Kafka how far everything is stored, in the background. */
  commit(): void;
}

/** Connects, compares the topic with what the views were built from, and starts to consume. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { kafka, topic, from, logger } = options;
  const admin = kafka.admin();
  try {
    await admin.connect();
    const { clusterId } = await admin.describeCluster();
    checkIdentity(from.identity, { clusterId, topic });
    const bounds = await readBounds(admin, topic);
    const starts = startOffsets(topic, from, bounds);
    for (const [partition, { verify, position }] of starts) {
      if (verify || position.sha256 === null) continue;
      const warning = 'the last applied message is no longer in the topic, but what follows it is: continuing';
      logger.warn({ topic, partition }, warning);
    }
    const intake = new KafkaIntake({ ...options, starts });
    return await consume(options, { admin, intake, identity: identityText({ clusterId, topic }) });
  } catch (error) {
    await admin.disconnect();
    throw error;
  }
}

async function consume(
  options: SessionOptions,
  { admin, intake, identity }: { admin: Admin; intake: KafkaIntake; identity: string },
): Promise<Session> {
  const { kafka, topic, group, guards, logger, onChange } = options;
  const fetched = { maxBytesPerPartition: intake.fetchBytes, maxBytes: FETCH_BYTES_MAX };
  const { consumer, commit: commitOffsets } = createLoneConsumer(kafka, {
    groupId: group,
    ...READER_CONFIG,
    ...fetched,
  });
  const closed = new AbortController();
  let failure: unknown = null;
  const paused = new Set<number>();
  let isCommitting = false;
  let hasMoreToCommit = false;
  let hasWarned = false;

  function fail(error: unknown): void {
    failure ??= error;
    onChange();
  }

  consumer.on('consumer.crash', ({ payload }) => fail(payload.error));
  consumer.on('consumer.group_join', ({ payload }) => {
    for (const partition of payload.memberAssignment[topic] ?? []) {
      const cursor = intake.cursor(partition);
      if (cursor === undefined) return fail(new SessionOver(`topic ${topic} has a new partition ${partition}`));
      guards.seek(consumer, { topic, partition, offset: String(cursor) });
    }
    logger.info({ topic, partitions: intake.partitions.length }, 'reading the topic');
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

  function receive({ batch, pause }: EachBatchPayload): void {
    if (failure !== null) return;
    const { partition, messages } = batch;
    const fetchedOffset = guards.fetchedOffset(batch) ?? intake.cursor(partition)!;
    intake.receive({ partition, fetchedOffset, messages });
    if (intake.isFull(partition)) {
      paused.add(partition);
      pause();
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

  /** One at a time, and the latest only. Only lag tools read them, so a session logs its first failure and reads on. */
  async function commit(): Promise<void> {
    hasMoreToCommit = true;
    if (isCommitting) return;
    isCommitting = true;
    while (hasMoreToCommit && failure === null) {
      hasMoreToCommit = false;
      const offsets = new Map([...options.stored.keys()].map((each) => [each, intake.storedThrough(each)]));
      await commitOffsets(topic, offsets).catch((error: unknown) => {
        if (failure !== null || hasWarned) return;
        hasWarned = true;
        logger.warn(
          { err: error, topic, group },
          'cannot commit the position to Kafka: only tools for its lag read it',
        );
      });
    }
    isCommitting = false;
  }

  async function followBounds(): Promise<void> {
    while (!closed.signal.aborted) {
      const request = intake.boundsRequest(Date.now());
      const bounds = await readBounds(admin, topic);
      if (bounds.size !== intake.partitions.length) throw new SessionOver(`topic ${topic} has other partitions`);
      intake.noteBounds(request, bounds);
      onChange();
      await sleep(BOUNDS_INTERVAL_MS, undefined, { signal: closed.signal }).catch(() => {});
    }
  }

  // A suspended process does not see that a topic is deleted and recreated. Timers run before data waiting in a socket.
  const watch = watchStandstill((ms) =>
    fail(new SessionOver(`the process was suspended for ${Math.round(ms / 1000)} s`)),
  );
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
  } catch (error) {
    clearInterval(watch);
    await consumer.disconnect();
    throw error;
  }
  const running = consumer.run({
    autoCommit: false,
    eachBatch: async (payload) => {
      try {
        receive(payload);
      } catch (error) {
        fail(error);
      }
    },
  });
  running.catch(fail);
  followBounds().catch((error: unknown) => {
    if (!closed.signal.aborted) fail(error);
  });

  return {
    identity,
    intake,
    take(max) {
      if (failure !== null) throw failure;
      resumeDrained();
      return intake.take(max);
    },
    commit: () => void commit(),
    async [Symbol.asyncDispose]() {
      closed.abort();
      clearInterval(watch);
      failure ??= new Error('the session was closed');
      const disconnected = Promise.allSettled([consumer.disconnect(), admin.disconnect()]);
      await Promise.race([disconnected, sleep(DISCONNECT_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** Calls back when this thread did not run for long: it was stopped, suspended with its machine, or starved. */
function watchStandstill(onStandstill: (ms: number) => void): NodeJS.Timeout {
  // One clock stops while the machine sleeps; the other may be set.
  const clocks = (): [number, number] => [performance.now(), Date.now()];
  let before = clocks();
  return setInterval(() => {
    const now = clocks();
    const ms = Math.max(now[0] - before[0], now[1] - before[1]);
    before = now;
    if (ms > STOOD_STILL_MS) onStandstill(ms);
  }, WATCH_MS);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, EachBatchPayload, Kafka } from 'kafkajs';
import type { Message, SourceLogger } from '../source.ts';
import { type IntakeOptions, KafkaIntake } from './intake.ts';
import { READER_CONFIG, readBounds } from './kafka-client.ts';
import { SessionOver } from './kafka-errors.ts';
import { checkIdentity, identityText, type StoredTopic, startOffsets } from './kafka-positions.ts';
import { createLoneConsumer } from './lone-consumer.ts';

/** How often the ends of the partitions are requested, which readiness and idle partitions depend on, and the position is committed. */
const BOUNDS_INTERVAL_MS = 1_000;
const FETCH_BYTES_MAX = 8 * 1024 * 1024;
const DISCONNECT_TIMEOUT_MS = 5_000;

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
export interface Session extends AsyncDisposable {
  /** What its positions belong to. */
  readonly identity: string;
  readonly intake: KafkaIntake;
  /** The next messages in order, at most `max`. Throws the error that ended the session. */
  take(max: number): readonly Message[];
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
  const { kafka, topic, group, stored, logger, onChange } = options;
  const fetched = { maxBytesPerPartition: intake.fetchBytes, maxBytes: FETCH_BYTES_MAX };
  const { consumer, commit: commitOffsets } = createLoneConsumer(kafka, {
    groupId: group,
    ...READER_CONFIG,
    ...fetched,
  });
  const closed = new AbortController();
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
      if (next === undefined) return fail(new SessionOver(`topic ${topic} has a new partition ${partition}`));
      // At once: an await here would race with the first fetch.
      consumer.seek({ topic, partition, offset: String(next) });
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
    // Not in its types. Where an offset is out of range, kafkajs fetches from another one.
    const fetchedOffset = Number((batch as unknown as { readonly fetchedOffset: string }).fetchedOffset);
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
    while (!closed.signal.aborted) {
      const [at, read] = [Date.now(), intake.readTo()];
      const bounds = await readBounds(admin, topic);
      if (bounds.size !== intake.partitions.length) throw new SessionOver(`topic ${topic} has other partitions`);
      intake.noteBounds(at, read, bounds);
      onChange();
      void commit();
      await sleep(BOUNDS_INTERVAL_MS, undefined, { signal: closed.signal }).catch(() => {});
    }
  }

  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
  } catch (error) {
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
    async [Symbol.asyncDispose]() {
      closed.abort();
      failure ??= new Error('the session was closed');
      const disconnected = Promise.allSettled([consumer.disconnect(), admin.disconnect()]);
      await Promise.race([disconnected, sleep(DISCONNECT_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

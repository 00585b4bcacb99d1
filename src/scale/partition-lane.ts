import type { Kafka, Message } from 'kafkajs';
import { readBounds, withAdmin } from '../feed/kafka/kafka-client.ts';
import { leaderUnknown } from '../feed/kafka/kafka-errors.ts';
import { hashesOf, type KafkaRecord } from '../feed/kafka/kafka-record.ts';
import { requestsOf } from '../feed/kafka/topic-producer.ts';
import { Refusal } from '../refusal.ts';
import type { FlatEvent } from './flat-event.ts';
import {
  type BadMessage,
  type FlatBatch,
  flattenBatch,
  type GroupPosition,
  type GroupRules,
  type GroupSettings,
  LateImport,
  positionText,
  readPosition,
} from './partition-batch.ts';

export interface DecoderTopics {
  /** Of updates. */
  readonly input: string;
  /** Of flat events: as many partitions, because an update's events keep its order. */
  readonly flat: string;
  readonly deadLetters: string;
}

/** The same for all members of a group. */
export interface GroupOptions {
  readonly group: string;
  readonly topics: DecoderTopics;
  readonly rules: GroupRules;
}

/** One partition, as the only one that may decode it now. After an error it is of no more use. */
export type Lane = Awaited<ReturnType<typeof openLane>>;

/** An open transaction of a process that died holds back all readers of committed messages, for so long at most. */
const TRANSACTION_TIMEOUT_MS = 10_000;
/** Kafka's word for a group that has committed nothing. */
const NO_OFFSET = -1;
/** The group in which Flink's job begins a partition, and fails where events are gone: nobody ever joins it (flink/holdings.sql). */
const JOB_GROUP = 'holdfast-flink';

/** What one transaction stores. */
interface Written {
  readonly position: GroupPosition;
  readonly events?: readonly FlatEvent[];
  readonly bad?: readonly BadMessage[];
  /** The job begins the partition of flat events here. */
  readonly isFirst?: boolean;
}

/**
 * Takes over a partition. The transactional id is the partition's: to open it fences off the process that had it before, whose
 * transaction is aborted or done after that, and only then the group's offset says where to continue. The group itself fences
 * nobody, because kafkajs sends no generation with a transaction's offsets.
 */
export async function openLane(
  kafka: Kafka,
  { group, topics, rules }: GroupOptions,
  { partition, dropped }: { readonly partition: number; readonly dropped: ReadonlySet<number> },
) {
  const { dso, periodUs, migrationId } = rules;
  const settings = { flatTopic: topics.flat, dso, periodUs, migrationId };
  const producer = kafka.producer({
    transactionalId: `${group}.${topics.input}.${partition}`,
    idempotent: true,
    maxInFlightRequests: 1,
    transactionTimeout: TRANSACTION_TIMEOUT_MS,
    allowAutoTopicCreation: false,
  });
  let turn: Promise<unknown> = Promise.resolve();
  let wroteSinceMark = true;
  let failure: unknown = null;

  async function store({ position, events = [], bad = [], isFirst = false }: Written): Promise<void> {
    const transaction = await producer.transaction();
    try {
      const send = async (topic: string, all: readonly (Message & { partition: number })[]): Promise<void> => {
        for (const messages of requestsOf(all)) {
          const sent = await transaction.send({ topic, messages, acks: -1 });
          if (sent.length !== 1) throw leaderUnknown(topic);
        }
      };
      const sendOffset = (consumerGroupId: string, topic: string, offset: number, metadata?: string): Promise<void> => {
        const partitions = [{ partition, offset: String(offset), ...(metadata === undefined ? {} : { metadata }) }];
        return transaction.sendOffsets({ consumerGroupId, topics: [{ topic, partitions }] });
      };
      await send(
        topics.flat,
        events.map((event) => ({ partition, value: JSON.stringify(event) })),
      );
      await send(
        topics.deadLetters,
        bad.map((each) => ({ partition: 0, ...deadLetter(each, topics.input) })),
      );
      await sendOffset(group, topics.input, position.next, positionText(position, settings));
      if (isFirst) await sendOffset(JOB_GROUP, topics.flat, 0);
      await transaction.commit();
    } catch (error) {
      await transaction.abort().catch(() => {});
      throw error;
    }
  }

  /** A producer has one transaction at a time. One that failed may be committed all the same, so nothing is stored after it. */
  function inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const result = turn.then(() => {
      if (failure !== null) throw failure;
      return step();
    });
    turn = result.catch((error: unknown) => {
      failure ??= error;
    });
    return result;
  }

  try {
    await producer.connect();
    // kafkajs opens the transactional id with its first transaction.
    await (await producer.transaction()).abort();
    let position = await startPosition(kafka, { group, topics, settings, partition }, store);
    return {
      partition,
      /** Why its next message is not passed; null where nothing is wrong. */
      stopped: null as 'halted' | 'ahead_of_clock' | null,
      get position(): GroupPosition {
        return position;
      },
      /** Writes the events of messages, and how far they go, in one transaction. Messages before the position are left out. */
      decode: (records: readonly KafkaRecord[]): Promise<FlatBatch> =>
        inTurn(async () => {
          const news = records.filter(
            ({ offset, broken }) => Number(broken?.batch?.resumeToken ?? offset + 1) > position.next,
          );
          const decoded = flattenBatch(position, news, { ...rules, now: Date.now() * 1000, dropped });
          if (decoded.position.next !== position.next || decoded.position.halted !== position.halted) {
            await store(decoded);
            position = decoded.position;
            wroteSinceMark ||= decoded.events.length > 0;
          }
          return decoded;
        }),
      /** Goes past offsets that hold no message. */
      skipTo(next: number): void {
        if (next > position.next) position = { ...position, next };
      },
      /** Heartbeat: repeats the partition's watermark if nothing was written since the last one. */
      mark: () =>
        inTurn(async () => {
          if (!wroteSinceMark && position.last !== null) {
            const { m, t, clk, seq } = position.last;
            await store({ events: [{ k: 'T', m, t, clk, seq }], position });
          }
          wroteSinceMark = false;
        }),
      close: () => turn.then(() => producer.disconnect()),
    };
  } catch (error) {
    await producer.disconnect().catch(() => {});
    throw error;
  }
}

/** Where the group is in a partition; a new group begins at the topic's first message, and stores that before anything else. */
async function startPosition(
  kafka: Kafka,
  {
    group,
    topics,
    settings,
    partition,
  }: { group: string; topics: DecoderTopics; settings: GroupSettings; partition: number },
  store: (written: Written) => Promise<void>,
): Promise<GroupPosition> {
  const where = `partition ${partition} of topic ${topics.input}, group ${group}`;
  const { committed, input, flat } = await withAdmin(kafka, async (admin) => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topics.input] });
    return {
      committed: found?.partitions.find((each) => each.partition === partition),
      input: (await readBounds(admin, topics.input)).get(partition)!,
      flat: (await readBounds(admin, topics.flat)).get(partition)!,
    };
  });
  if (committed === undefined) throw leaderUnknown(topics.input);
  const next = Number(committed.offset);
  if (next >= input.low && next <= input.high) return readPosition(next, committed.metadata ?? null, settings, where);
  if (next !== NO_OFFSET) {
    // kafkajs commits -2 for the group as soon as it asks for a message that is gone.
    const upTo = next < 0 ? 'messages that are gone' : `up to offset ${next}`;
    throw new Refusal(
      `${where}: it decoded ${upTo}, and the topic holds ${input.low} to ${input.high}: ` +
        'messages were removed before they were decoded, or the topic is another one; decode into a new topic, with a new group',
    );
  }
  if (flat.high > 0) {
    throw new Refusal(
      `${where}: the group has no offset, but partition ${partition} of topic ${topics.flat} has events, which would come ` +
        'twice: decode into a new topic, with a new group (Kafka forgets the offsets of a group without members after a week)',
    );
  }
  const position = { next: input.low, last: null, begun: null, seed: null, halted: false };
  await store({ position, isFirst: true });
  return position;
}

/** A bad message for the topic of dead letters: its bytes, and in headers where it was, why it is bad, and what follows. */
export function deadLetter({ record, fault, decision }: BadMessage, topic: string): Message {
  const { partition, offset, bytes, overlong } = record;
  return {
    key: `${topic}/${partition}/${offset}`,
    value: bytes === null ? null : Buffer.from(bytes),
    headers: {
      topic,
      partition: String(partition),
      offset: String(offset),
      decision,
      code: fault instanceof LateImport ? 'late_seed' : fault.code,
      reason: fault.message,
      // Of all of it, where only its start is kept.
      sha256: Buffer.from(hashesOf(record).at(-1)!).toString('hex'),
      ...(overlong === undefined ? {} : { length: String(overlong.length) }),
    },
  };
}

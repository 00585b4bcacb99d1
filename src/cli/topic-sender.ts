import { counted } from '../counted.ts';
import { tryDecode } from '../decode/decode.ts';
import { type ProducedRecord, sizeOf } from '../feed/kafka/requests.ts';
import type { RecordProducer } from '../feed/kafka/sole-producer.ts';
import type { Message, SourceLogger } from '../feed/source.ts';
import { createPartitionPlan, type Destination, destinationFor } from '../feed/synchronizer-partitions.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { Refusal } from '../refusal.ts';
import type { Resume } from './topic-resume.ts';

/** Bytes not sent yet, over all partitions: enough for the end of a transaction to cost little beside them. */
const BATCH_BYTES_MAX = 8_000_000;

/** So many messages may come before one says whether the topic has them. */
const HELD_MAX = 10_000;

/** Sends messages to the partitions of their synchronizers. */
export interface Sender {
  /** How many of the first messages the brokers have, without those left out; a checkpoint counts once. */
  readonly sent: number;
  /** How many were not sent because the topic had them. */
  readonly leftOut: number;
  /** `origin`: for messages, such as a file. */
  add(message: Pick<Message, 'bytes' | 'offset' | 'overlong'>, origin: string): Promise<void>;
  flush(): Promise<void>;
}

export interface SenderOptions {
  readonly topic: string;
  readonly logger: Pick<SourceLogger, 'info'>;
  /** Which of the first messages are left out. */
  readonly resume?: Resume;
}

/** A message of which it is not known yet whether the topic has it. */
interface Held {
  readonly value: Uint8Array | null;
  readonly partitions: readonly number[];
  readonly place: string;
}

export async function createSender(
  producer: RecordProducer,
  { topic, logger, resume }: SenderOptions,
): Promise<Sender> {
  const isSingle = producer.partitions === 1;
  let known = isSingle ? new Map<string, number>() : await producer.partitionsByName(synchronizerOf, { all: false });
  let isAllKnown = known.size === 0;
  let plan = createPartitionPlan(producer.partitions, known);
  const every = Array.from({ length: producer.partitions }, (_, partition) => partition);
  const held: Held[] = [];
  let records: ProducedRecord[] = [];
  let total = 0;
  let leftOut = 0;
  let added = 0;
  let sent = 0;

  /** A synchronizer may follow another one in a partition, and is then found only by reading the whole topic. */
  async function partitionOf(synchronizerId: string): Promise<number | null> {
    if (!isAllKnown && !known.has(synchronizerId)) {
      logger.info({ topic, synchronizerId }, 'reading the topic to see which partition has this synchronizer');
      known = await producer.partitionsByName(synchronizerOf, { all: true });
      isAllKnown = true;
      plan = createPartitionPlan(producer.partitions, known);
    }
    return plan(synchronizerId);
  }

  async function partitionsOf(destination: Destination): Promise<readonly number[]> {
    if (destination === 'every') return every;
    if (destination === 'first') return [0];
    const partition = await partitionOf(destination.synchronizerId);
    if (partition !== null) return [partition];
    throw new Refusal(
      `topic ${topic} has ${counted(producer.partitions, 'partition')}, each with a synchronizer of its own, and none for ` +
        `${destination.synchronizerId}: send to a topic with more partitions, or with a single one`,
    );
  }

  async function send(): Promise<void> {
    if (records.length > 0) await producer.send(records);
    records = [];
    total = 0;
    sent = added;
  }

  async function put({ value, partitions, place }: Held): Promise<void> {
    if (resume?.has(value, partitions, place) === true) {
      leftOut += 1;
      return;
    }
    const size = sizeOf(value) * partitions.length;
    // All copies of a message are sent at once.
    if (total > 0 && total + size > BATCH_BYTES_MAX) await send();
    for (const partition of partitions) records.push({ partition, value });
    total += size;
    added += 1;
  }

  async function putHeld(): Promise<void> {
    resume?.settle();
    for (const each of held.splice(0)) await put(each);
  }

  return {
    get sent() {
      return sent;
    },
    get leftOut() {
      return leftOut;
    },
    async add(message, origin) {
      const { bytes: value, offset, overlong } = message;
      if (overlong !== undefined) {
        throw new Error(`${origin}, message ${offset} is ${overlong.length} bytes long: no consumer would accept it`);
      }
      const partitions = await partitionsOf(destinationOf(value));
      held.push({ value, partitions, place: `${origin}, message ${offset}` });
      if (resume === undefined || resume.judge(value, partitions) || held.length >= HELD_MAX) await putHeld();
    },
    async flush() {
      await putHeld();
      await send();
    },
  };
}

export function synchronizerOf(value: Uint8Array | null): string | null {
  const destination = destinationOf(value);
  return typeof destination === 'string' ? null : destination.synchronizerId;
}

/** What cannot be decoded is sent as it is, and its readers decide. */
function destinationOf(value: Uint8Array | null): Destination {
  const decoded = value && tryDecode(value, { migrationId: 0 });
  return destinationFor(decoded instanceof BadUpdate ? null : decoded, value);
}

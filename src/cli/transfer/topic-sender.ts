import { counted } from '../../counted.ts';
import { tryDecode } from '../../decode/decode.ts';
import { type ProducedRecord, type RecordProducer, recordBytes } from '../../feed/kafka/topic-producer.ts';
import type { Message, SourceLogger } from '../../feed/source.ts';
import { createPartitionPlan, type Destination, destinationFor } from '../../feed/synchronizer-partitions.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { Refusal } from '../../refusal.ts';
import type { Entry, Resumed } from './topic-resume.ts';

/** Bytes not sent yet, over all partitions: enough for the end of a transaction to cost little beside them. */
const BATCH_BYTES_MAX = 8_000_000;

/** Sends messages to the partitions of their synchronizers. */
export interface Sender {
  /** How many of the first messages the brokers have, without those left out; a checkpoint counts once. */
  readonly sent: number;
  /** How many were not sent because the topic had them. */
  readonly leftOut: number;
  /** `origin`: for messages, such as a file. */
  add(message: Pick<Message, 'bytes' | 'offset' | 'overlong'>, origin: string): Promise<void>;
  /** Sends what is known to be new. */
  flush(): Promise<void>;
  /** After the last message: sends the rest. Throws a Refusal where the messages are not those that the topic has. */
  end(): Promise<void>;
}

/** `resumed`: the partitions that may have some of the messages already. */
export async function createSender(
  producer: RecordProducer,
  {
    topic,
    logger,
    resumed = new Map(),
  }: { topic: string; logger: Pick<SourceLogger, 'info'>; resumed?: ReadonlyMap<number, Resumed> },
): Promise<Sender> {
  const isSingle = producer.partitions === 1;
  let known = isSingle ? new Map<string, number>() : await producer.partitionsByName(synchronizerOf, { all: false });
  let isAllKnown = known.size === 0;
  let plan = createPartitionPlan(producer.partitions, known);
  const every = Array.from({ length: producer.partitions }, (_, partition) => partition);
  let records: ProducedRecord[] = [];
  let total = 0;
  let taken = 0;
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

  async function flush(): Promise<void> {
    if (records.length > 0) await producer.send(records);
    records = [];
    total = 0;
    sent = added;
  }

  async function put(partition: number, entries: readonly Entry[]): Promise<void> {
    for (const { value, message } of entries) {
      const size = recordBytes(value);
      if (total > 0 && total + size > BATCH_BYTES_MAX) await flush();
      records.push({ partition, value });
      total += size;
      if (!message.isCounted) added += 1;
      message.isCounted = true;
    }
  }

  return {
    get sent() {
      return sent;
    },
    get leftOut() {
      return taken - added;
    },
    flush,
    async add({ bytes: value, offset, overlong }, origin) {
      const place = `${origin}, message ${offset}`;
      if (overlong !== undefined)
        throw new Error(`${place} is ${overlong.length} bytes long: no consumer would accept it`);
      const entry = { value, place, message: { isCounted: false } };
      taken += 1;
      for (const partition of await partitionsOf(destinationOf(value)))
        await put(partition, resumed.get(partition)?.next(entry) ?? [entry]);
    },
    async end() {
      // Nothing more is sent before all of them are known to be continued.
      const rest = [...resumed].map(([partition, each]) => ({ partition, entries: each.rest() }));
      for (const { partition, entries } of rest) await put(partition, entries);
      await flush();
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

import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { LINE_BYTES_MAX } from '../limits.ts';
import { awaitBounds } from './kafka-client.ts';
import type { PartitionBounds } from './kafka-positions.ts';
import { recordsOf } from './kafka-record.ts';

export interface RecordsRead {
  /** The offset at which to begin with a partition. */
  readonly from: (bounds: PartitionBounds) => number;
  /** Called with records of one partition in their order; true where no more are wanted of it. What it throws ends the reading. */
  readonly each: (partition: number, values: readonly (Buffer | null)[]) => boolean;
}

/** For a consumer that begins where a broker has just started; kafkajs does not try again by itself. */
export const WHILE_GROUP_LOADS = {
  restartOnFailure: async (error: Error): Promise<boolean> =>
    'type' in error && error.type === 'GROUP_LOAD_IN_PROGRESS',
};

/**
 * Reads each partition to the end that it has now, in a consumer group of its own, which is removed afterwards. Returns what the
 * partitions had then.
 */
export async function readRecords(
  kafka: Kafka,
  topic: string,
  { from, each }: RecordsRead,
): Promise<ReadonlyMap<number, PartitionBounds>> {
  const admin = kafka.admin();
  await admin.connect();
  const groupId = `holdfast-produce-${randomUUID()}`;
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 100,
    retry: WHILE_GROUP_LOADS,
  });
  try {
    const bounds = await awaitBounds(kafka, topic);
    const ends = new Map(
      [...bounds].flatMap(([partition, { low, high }]) => (low === high ? [] : [[partition, high]])),
    );
    if (ends.size === 0) return bounds;
    const done = Promise.withResolvers<void>();
    const enough = new Set<number>();
    // At once: what is fetched first must not be what is before it.
    consumer.on('consumer.group_join', () => {
      for (const [partition, each] of bounds) consumer.seek({ topic, partition, offset: String(from(each)) });
    });
    // Also counts batches of control records, which the handler below never sees.
    consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
      if (enough.has(partition) || Number(lastOffset) + 1 >= ends.get(partition)!) ends.delete(partition);
      if (ends.size === 0) done.resolve();
    });
    consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
      if (!restart) done.reject(error);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { messages, partition }, pause }) => {
        try {
          const records = recordsOf(partition, messages, 0);
          const broken = records.at(-1)?.broken;
          const values = messages.slice(0, broken && -1).map(({ value }) => value);
          if (!each(partition, values)) {
            if (broken === undefined) return;
            throw new Refusal(`topic ${topic}, partition ${partition}, ${broken.place}: ${broken.message}`);
          }
          enough.add(partition);
          pause();
        } catch (error) {
          done.reject(error);
        }
      },
    });
    await done.promise;
    return bounds;
  } finally {
    await consumer.disconnect();
    await admin.deleteGroups([groupId]).catch(() => {});
    await admin.disconnect();
  }
}

/** Far more than a network has in a minute: what is asked for again behind it. */
const ENDS_MAX = { recordsMax: 2_000, bytesMax: 64 * 2 ** 20 };
/** So many there are at least, where a partition has them and they are not longer than that. */
export const ENDS_LEAST = 500;
/** Where fewer bytes were read, no limit of theirs was met. */
export const ENDS_BYTES_SURE = ENDS_MAX.bytesMax - LINE_BYTES_MAX;
/** Where the last records are mostly of transactions that were aborted, so many times more are looked at. */
const WIDER = 8;

/**
 * The last records of each partition, in order and without null values; none of one that had some and has lost all, by its
 * retention. A partition that never had any is left out.
 */
export type TopicEnds = ReadonlyMap<number, readonly Buffer[]>;

/** Throws a Refusal where no partition has any record any more: what follows what was there is not known. */
export async function readEnds(kafka: Kafka, topic: string, recordsMax = ENDS_MAX.recordsMax): Promise<TopicEnds> {
  const ends = new Map<number, { values: Buffer[]; bytes: number; isFull: boolean }>();
  const from = ({ low, high }: PartitionBounds): number => Math.max(low, high - recordsMax);
  const bounds = await readRecords(kafka, topic, {
    from,
    each(partition, values) {
      const end = ends.get(partition) ?? { values: [], bytes: 0, isFull: false };
      ends.set(partition, end);
      for (const value of values) {
        if (value === null) continue;
        end.values.push(value);
        end.bytes += value.length;
        while (end.values.length > ENDS_MAX.recordsMax || (end.bytes > ENDS_MAX.bytesMax && end.values.length > 1)) {
          end.bytes -= end.values.shift()!.length;
          end.isFull = true;
        }
      }
      return false;
    },
  });
  const isTooFew = ([partition, held]: [number, PartitionBounds]): boolean => {
    const { values, isFull } = ends.get(partition) ?? { values: [], isFull: false };
    return from(held) > held.low && !isFull && values.length < ENDS_LEAST;
  };
  if ([...bounds].some(isTooFew)) return readEnds(kafka, topic, recordsMax * WIDER);
  const known = [...bounds].map(([partition, { low }]) => {
    return { partition, values: ends.get(partition)?.values ?? [], hasLost: low > 0 };
  });
  if (known.some(({ hasLost }) => hasLost) && known.every(({ values }) => values.length === 0))
    throw new Refusal(
      `topic ${topic} no longer has what was in it: its retention has removed everything, so where to continue is not known; ` +
        'send to another topic, with retention.ms -1 (--create makes one), which is read into another --data directory',
    );
  const used = known.filter(({ values, hasLost }) => values.length > 0 || hasLost);
  return new Map(used.map(({ partition, values }) => [partition, values]));
}

/** Reads each partition from its start until a record has a name, or to its end for `all`. */
export async function readPartitionsByName(
  kafka: Kafka,
  topic: string,
  { name, all }: { name: (value: Uint8Array | null) => string | null; all: boolean },
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  await readRecords(kafka, topic, {
    from: ({ low }) => low,
    each(partition, values) {
      for (const value of values) {
        const bears = name(value);
        if (bears === null) continue;
        const known = found.get(bears) ?? partition;
        if (known !== partition)
          throw new Refusal(
            `topic ${topic} has messages of ${bears} in partitions ${Math.min(known, partition)} and ` +
              `${Math.max(known, partition)}, so their order is not known: send to another topic`,
          );
        found.set(bears, partition);
        if (!all) return true;
      }
      return false;
    },
  });
  return found;
}

import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { LINE_BYTES_MAX } from '../limits.ts';
import type { PartitionBounds } from './positions.ts';
import { readRecords } from './read-records.ts';

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

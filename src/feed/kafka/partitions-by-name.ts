import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import type { PartitionBounds } from './positions.ts';
import { readRecords } from './read-records.ts';

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
        if (known !== partition) throw inTwoPartitions(topic, bears, [known, partition]);
        found.set(bears, partition);
        if (!all) return true;
      }
      return false;
    },
  });
  return found;
}

function inTwoPartitions(topic: string, name: string, partitions: readonly number[]): Refusal {
  const both = partitions.toSorted((a, b) => a - b).join(' and ');
  return new Refusal(
    `topic ${topic} has messages of ${name} in partitions ${both}, so their order is not known: ` +
      'send to another topic',
  );
}

/** Far more than a network has in a minute: what is asked for again behind it. */
const ENDS_MAX = { recordsMax: 2_000, bytesMax: 64 * 2 ** 20 };
/** Where the last records are all of transactions that were aborted, so many times more are looked at. */
const WIDER = 8;

/**
 * The last records of each partition that has any, without null values. Throws a Refusal where there are none any more: what
 * follows what was there is not known.
 */
export async function readEnds(
  kafka: Kafka,
  topic: string,
  recordsMax = ENDS_MAX.recordsMax,
): Promise<readonly (readonly Uint8Array[])[]> {
  const ends = new Map<number, { values: Buffer[]; bytes: number }>();
  const from = ({ low, high }: PartitionBounds): number => Math.max(low, high - recordsMax);
  const bounds = await readRecords(kafka, topic, {
    from,
    each(partition, values) {
      const end = ends.get(partition) ?? { values: [], bytes: 0 };
      ends.set(partition, end);
      for (const value of values) {
        if (value === null) continue;
        end.values.push(value);
        end.bytes += value.length;
        while (end.values.length > ENDS_MAX.recordsMax || (end.bytes > ENDS_MAX.bytesMax && end.values.length > 1))
          end.bytes -= end.values.shift()!.length;
      }
      return false;
    },
  });
  const mayHaveMore = ([partition, held]: [number, PartitionBounds]): boolean =>
    from(held) > held.low && (ends.get(partition)?.values.length ?? 0) === 0;
  if ([...bounds].some(mayHaveMore)) return readEnds(kafka, topic, recordsMax * WIDER);
  const found = [...ends.values()].flatMap(({ values }) => (values.length === 0 ? [] : [values]));
  if (found.length === 0 && bounds.values().some(({ low }) => low > 0))
    throw new Refusal(
      `topic ${topic} no longer has what was in it: its retention has removed everything, so where to continue is not known; ` +
        'send to another topic, with retention.ms -1 (--create makes one), which is read into another --data directory',
    );
  return found;
}

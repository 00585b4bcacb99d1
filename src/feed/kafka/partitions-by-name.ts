import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
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

/**
 * The last records of each partition: so many, or fewer where they are not larger than so many bytes together. Throws a Refusal
 * where there are none any more: what follows what was there is not known.
 */
export async function readEnds(
  kafka: Kafka,
  topic: string,
  { recordsMax, bytesMax }: { recordsMax: number; bytesMax: number },
): Promise<readonly (readonly Uint8Array[])[]> {
  const ends = new Map<number, { values: Buffer[]; bytes: number }>();
  const bounds = await readRecords(kafka, topic, {
    from: ({ low, high }) => Math.max(low, high - recordsMax),
    each(partition, values) {
      const end = ends.get(partition) ?? { values: [], bytes: 0 };
      ends.set(partition, end);
      for (const value of values) {
        if (value === null) continue;
        end.values.push(value);
        end.bytes += value.length;
        while (end.bytes > bytesMax && end.values.length > 1) end.bytes -= end.values.shift()!.length;
      }
      return false;
    },
  });
  const found = [...ends.values()].flatMap(({ values }) => (values.length === 0 ? [] : [values]));
  if (found.length === 0 && bounds.values().some(({ low }) => low > 0))
    throw new Refusal(
      `topic ${topic} no longer has what was in it: its retention has removed everything, so where to continue is not known; ` +
        'send to another topic, with retention.ms -1 (--create makes one), which is read into another --data directory',
    );
  return found;
}

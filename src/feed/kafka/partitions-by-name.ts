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

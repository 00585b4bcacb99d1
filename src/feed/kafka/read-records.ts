import type { Kafka } from 'kafkajs';
import { Refusal } from '../../refusal.ts';
import { awaitBounds, READER_CONFIG } from './kafka-client.ts';
import type { PartitionBounds } from './kafka-positions.ts';
import { recordsOf } from './kafka-record.ts';
import { createLoneConsumer } from './lone-consumer.ts';

/** Reads each partition from an offset to its end now, and returns what they had. `each` gets records of one in order; what it throws ends it. */
export async function readRecords(
  kafka: Kafka,
  topic: string,
  from: (bounds: PartitionBounds) => number,
  each: (partition: number, values: readonly (Buffer | null)[]) => void,
): Promise<ReadonlyMap<number, PartitionBounds>> {
  const bounds = await awaitBounds(kafka, topic);
  const ends = new Map([...bounds].flatMap(([partition, { low, high }]) => (low === high ? [] : [[partition, high]])));
  if (ends.size === 0) return bounds;
  const { consumer } = createLoneConsumer(kafka, { ...READER_CONFIG, groupId: 'holdfast' });
  const done = Promise.withResolvers<void>();
  // At once: what is fetched first must not be what is before it.
  consumer.on('consumer.group_join', () => {
    for (const [partition, held] of bounds) consumer.seek({ topic, partition, offset: String(from(held)) });
  });
  // Also counts batches of control records, which the handler below never sees.
  consumer.on('consumer.end_batch_process', ({ payload: { partition, lastOffset } }) => {
    if (Number(lastOffset) + 1 >= ends.get(partition)!) ends.delete(partition);
    if (ends.size === 0) done.resolve();
  });
  consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
    if (!restart) done.reject(error);
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch: { messages, partition } }) => {
        try {
          const broken = recordsOf(partition, messages, 0).at(-1)?.broken;
          if (broken !== undefined)
            throw new Refusal(`topic ${topic}, partition ${partition}, ${broken.location}: ${broken.message}`);
          each(
            partition,
            messages.map(({ value }) => value),
          );
        } catch (error) {
          done.reject(error);
        }
      },
    });
    await done.promise;
    return bounds;
  } finally {
    await consumer.disconnect();
  }
}

/** Far more than a network has in a minute. */
const TAIL_MAX = { records: 1_000, bytes: 64 * 2 ** 20 };
/** Where the last records are all aborted or null, so many times more are read. */
const WIDER = 8;

/** The last records of a partition. */
export interface PartitionTail {
  /** In order, without null values; empty where the partition never had any. */
  readonly values: readonly Buffer[];
  /** Whether these are all that the partition ever had. */
  readonly isWhole: boolean;
}

/** By partition. Throws a Refusal where retention has removed all that was in one: what follows it is not known. */
export async function readTails(
  kafka: Kafka,
  topic: string,
  recordsMax = TAIL_MAX.records,
): Promise<ReadonlyMap<number, PartitionTail>> {
  const tails = new Map<number, { values: Buffer[]; bytes: number; isWhole: boolean }>();
  const tailOf = (partition: number) => {
    const tail = tails.get(partition) ?? { values: [], bytes: 0, isWhole: true };
    tails.set(partition, tail);
    return tail;
  };
  const from = ({ low, high }: PartitionBounds): number => Math.max(low, high - recordsMax);
  const bounds = await readRecords(kafka, topic, from, (partition, values) => {
    const tail = tailOf(partition);
    for (const value of values) {
      if (value === null) continue;
      tail.values.push(value);
      tail.bytes += value.length;
      for (; tail.bytes > TAIL_MAX.bytes && tail.values.length > 1; tail.isWhole = false)
        tail.bytes -= tail.values.shift()!.length;
    }
  });
  for (const [partition, held] of bounds) {
    const tail = tailOf(partition);
    tail.isWhole &&= from(held) === 0;
    if (tail.values.length > 0) continue;
    if (from(held) > held.low) return readTails(kafka, topic, recordsMax * WIDER);
    if (held.low > 0)
      throw new Refusal(
        `topic ${topic} no longer has what was in partition ${partition}: its retention has removed all of it, so where to continue ` +
          'is not known; send to another topic, with retention.ms -1 (--create makes one), which is read into another --data directory',
      );
  }
  return tails;
}

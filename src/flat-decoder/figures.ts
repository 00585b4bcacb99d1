import { createKafkaClient, type KafkaConnection, readBounds, withAdmin } from '../feed/kafka/kafka-client.ts';
import type { SourceLogger } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import type { Decision, DecodedBatch } from './decode-batch.ts';

/** A partition that this process decodes, as it is now. */
export interface PartitionFigures {
  /** The offset of the next message. */
  readonly next: number;
  /** The record time reached; null where there is none. */
  readonly reached: Micros | null;
  /** Why its next message is not passed; null where nothing is wrong. */
  stopped: 'halted' | 'ahead_of_clock' | null;
}

/** What this process has done, and does now: for whoever watches it. */
export interface DecoderFigures {
  /** Those that it has now. */
  readonly partitions: Map<number, PartitionFigures>;
  /** Of the topic; null before that is known. */
  topicPartitions: number | null;
  messages: number;
  events: number;
  readonly deadLetters: Record<Decision, number>;
}

export function createFigures(): DecoderFigures {
  const deadLetters = { halted: 0, quarantined: 0, dropped: 0 };
  return { partitions: new Map(), topicPartitions: null, messages: 0, events: 0, deadLetters };
}

export function addBatch(figures: DecoderFigures, { messages, events, bad }: DecodedBatch): void {
  figures.messages += messages;
  figures.events += events.length;
  for (const { decision } of bad) figures.deadLetters[decision] += 1;
}

/** Whoever asks for metrics does not wait long. */
const LAG_MS_MAX = 3_000;

/** Counts the messages that the partitions of this process have left; null while no broker says so of each of them. */
export function createLagReader(
  figures: DecoderFigures,
  { connection, topic, logger }: { connection: KafkaConnection; topic: string; logger: SourceLogger },
): () => Promise<number | null> {
  const kafka = createKafkaClient(connection, logger);
  async function lag(): Promise<number | null> {
    const bounds = await withAdmin(kafka, (admin) => readBounds(admin, topic));
    let left = 0;
    for (const [partition, { next }] of figures.partitions) {
      const end = bounds.get(partition)?.high;
      if (end === undefined) return null;
      left += Math.max(end - next, 0);
    }
    return left;
  }
  return () => {
    const late = new Promise<null>((resolve) => setTimeout(resolve, LAG_MS_MAX, null).unref());
    return Promise.race([lag().catch(() => null), late]);
  };
}

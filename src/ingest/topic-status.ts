import { lackingText } from '../feed/kafka/guards.ts';
import type { PartitionStatus } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import type { Feed } from './feed-thread.ts';
import type { IngestStatus, TopicStatus } from './status.ts';

/** What of the standing of ingest tells how its topic stands. */
export interface TopicStanding {
  readonly phase: IngestStatus['phase'];
  readonly halted: DeadLetter | null;
  readonly source: { readonly isTopic: boolean; readonly feed: Pick<Feed, 'status'> | null } | null;
  readonly lastError: IngestStatus['lastError'];
}

/** How the topic stands, from what was heard of it last and what the views have by now; null for files. */
export function createTopicReporter(writer: ViewsWriter): (standing: TopicStanding) => TopicStatus | null {
  // Each session with the brokers knows only what itself has read.
  let newest: Micros | null = null;

  return ({ phase, halted, source, lastError }) => {
    if (source?.isTopic !== true) return null;
    const stored = storedPartitions(writer);
    if (phase === 'refused') return refusedStatus(lastError?.message ?? 'the topic is refused', stored, writer);
    const heard = source.feed?.status ?? null;
    if (heard === null) return null;
    newest = newestOf(newest, heard.newestRecordTime, halted?.recordTime ?? null);
    const partitions = heard.partitions.map((of) => {
      const known = stored.get(of.partition);
      // The feed hears of what is stored after each batch, and not of the part of a batch before a halt.
      const nextOffset = Math.max(of.nextOffset, known?.nextOffset ?? 0);
      const lag = of.endOffset === null ? null : Math.max(0, of.endOffset - nextOffset);
      return { ...of, firstOffset: known?.firstOffset ?? null, nextOffset, lag };
    });
    return { ...heard, partitions, newestRecordTime: newest, ...storedStatus(stored, writer) };
  };
}

/** What was heard before may be of another topic: nothing is known of how far it is, and what it held last. */
function refusedStatus(stopped: string, stored: StoredPartitions, writer: ViewsWriter): TopicStatus {
  const partitions = [...stored].map(([partition, offsets]) => {
    return { partition, ...offsets, endOffset: null, lag: null, passedOver: false };
  });
  const unknown = { holding: [], caughtUpAt: null, newestRecordTime: null };
  return { stopped, ...unknown, partitions, ...storedStatus(stored, writer) };
}

type StoredPartitions = ReadonlyMap<number, Pick<PartitionStatus, 'nextOffset'> & { readonly firstOffset: number }>;

function storedPartitions(writer: ViewsWriter): StoredPartitions {
  const partitions = [...writer.state.partitions].flatMap(([partition, { firstOffset, storedOffset }]) =>
    firstOffset === null || storedOffset === null
      ? []
      : [[partition, { firstOffset, nextOffset: storedOffset }] as const],
  );
  return new Map(partitions);
}

function storedStatus(
  stored: StoredPartitions,
  writer: ViewsWriter,
): Pick<TopicStatus, 'lacking' | 'appliedRecordTime'> {
  const lacking = [...stored].flatMap(([partition, { firstOffset }]) => lackingText(partition, firstOffset) ?? []);
  return { lacking, appliedRecordTime: appliedRecordTime(writer) };
}

function appliedRecordTime(writer: ViewsWriter): Micros | null {
  return newestOf(...[...writer.state.migrations.values()].map(({ timeReached }) => timeReached));
}

function newestOf(...times: readonly (Micros | null)[]): Micros | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}

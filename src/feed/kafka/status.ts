import { formatTime, type Micros } from '../../ledger/time.ts';
import { notShown } from '../not-shown.ts';
import type { SourceState, SourceStatus } from '../source.ts';
import { lackingText, positionsOf, type StoredPosition } from './positions.ts';

/** What the reading thread knows of a topic. Clock times in milliseconds since 1970. */
export interface TopicTelemetry {
  /** Why it is not read now; null when it is. */
  readonly stopped: string | null;
  /** Which partitions the others wait for, a sentence each: a possible reason for a lag. */
  readonly blocking: readonly string[];
  /** Everything that the topic had at this time of our clock is stored; null before that was so for the first time. */
  readonly caughtUpAt: number | null;
  /** The newest record time read, whether applied or not. */
  readonly newestRecordTime: Micros | null;
  readonly partitions: readonly PartitionTelemetry[];
}

export interface PartitionTelemetry {
  readonly partition: number;
  /** The next offset to store. */
  readonly nextOffset: number;
  /** The offset after the partition's last message, when last requested. */
  readonly endOffset: number | null;
  /** Messages that are not stored yet. */
  readonly lag: number | null;
  /** Idle for so long that the others no longer wait for it. */
  readonly passedOver: boolean;
}

/** The topic's status, from its last telemetry and what the views have by now. */
export function followTopic(name: string): { status(state: SourceState<TopicTelemetry>): SourceStatus } {
  // Each session with the brokers knows only what it has read itself.
  let newest: Micros | null = null;
  let last: TopicTelemetry | null = null;

  function status(state: SourceState<TopicTelemetry>): SourceStatus {
    const { telemetry, lanes, appliedRecordTime, halted, refused, mayLeaveGap } = state;
    const stored = positionsOf(lanes);
    const known = { stored, appliedRecordTime };
    if (refused !== null) {
      // Earlier telemetry may be of another topic: its ends and times are not known.
      const partitions = withoutEnds(stored);
      return statusOf({ stopped: refused, blocking: [], caughtUpAt: null, newestRecordTime: null, partitions }, known);
    }
    // Until a watch after a halt has reported, the last telemetry before the halt is the newest.
    if (telemetry !== null) {
      const isEmpty = telemetry.partitions.length === 0 && last !== null;
      last = isEmpty ? { ...telemetry, partitions: last?.partitions ?? [] } : telemetry;
    }
    if (last === null || (telemetry === null && halted === null)) {
      const details = { position: positionOf(stored), topic: null };
      const stopped = `${name} is not read to its end yet`;
      return { stopped, blocking: [], caughtUpAt: null, lagMessages: null, lagBytes: null, lagSeconds: null, details };
    }
    newest = newestOf(newest, last.newestRecordTime, halted?.recordTime ?? null);
    const partitions = last.partitions.map((of) => {
      // The source is told what is stored after each batch, but not of the part of a batch before a halt.
      const nextOffset = Math.max(of.nextOffset, stored.get(of.partition)?.nextOffset ?? 0);
      const lag = of.endOffset === null ? null : Math.max(0, of.endOffset - nextOffset);
      return { ...of, nextOffset, lag };
    });
    const shown = mayLeaveGap ? { ...last, stopped: last.stopped ?? notShown(name), caughtUpAt: null } : last;
    return statusOf({ ...shown, newestRecordTime: newest, partitions }, known);
  }

  return { status };
}

/** Partitions of which only the stored positions are known. */
export function withoutEnds(stored: StoredPartitions): PartitionTelemetry[] {
  return [...stored].map(([partition, { nextOffset }]) => {
    return { partition, nextOffset, endOffset: null, lag: null, passedOver: false };
  });
}

type StoredPartitions = ReadonlyMap<number, StoredPosition>;

function positionOf(stored: StoredPartitions): Record<string, number> {
  return Object.fromEntries([...stored].map(([partition, { nextOffset }]) => [partition, nextOffset]));
}

function statusOf(
  topic: TopicTelemetry,
  { stored, appliedRecordTime }: { stored: StoredPartitions; appliedRecordTime: Micros | null },
): SourceStatus {
  const { stopped, blocking, caughtUpAt, newestRecordTime, partitions } = topic;
  const lag = lagSeconds(topic, appliedRecordTime);
  const shown = {
    stopped,
    holding: blocking,
    lacking: [...stored].flatMap(([partition, { firstOffset }]) => lackingText(partition, firstOffset) ?? []),
    caught_up_at: caughtUpAt === null ? null : new Date(caughtUpAt).toISOString(),
    lag_seconds: lag,
    newest_record_time: newestRecordTime === null ? null : formatTime(newestRecordTime),
    partitions: partitions.map(({ partition, nextOffset, endOffset, lag, passedOver }) => ({
      partition,
      first_offset: stored.get(partition)?.firstOffset ?? null,
      next_offset: nextOffset,
      end_offset: endOffset,
      lag,
      passed_over: passedOver,
    })),
  };
  const lagMessages = partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  const positions = positionOf(stored);
  const details = { position: positions, topic: shown };
  return { stopped, blocking, caughtUpAt, lagMessages, lagBytes: null, lagSeconds: lag, positions, details };
}

/** Where nothing with a record time was read since the start, only the topic's end shows whether there is a lag. */
function lagSeconds({ newestRecordTime, partitions }: TopicTelemetry, appliedRecordTime: Micros | null): number | null {
  if (newestRecordTime !== null && appliedRecordTime !== null)
    return Math.max(0, newestRecordTime - appliedRecordTime) / 1_000_000;
  return partitions.length > 0 && partitions.every(({ lag }) => lag === 0) ? 0 : null;
}

function newestOf(...times: readonly (Micros | null)[]): Micros | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}

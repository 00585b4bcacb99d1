import { formatTime, type Micros } from '../../ledger/time.ts';
import { notShown, type SourceContext, type SourceKind, type SourceState, type SourceStatus } from '../source.ts';
import type { TopicSettings } from './kafka-client.ts';
import {
  lackingTexts,
  NOTHING_READ,
  positionsOf,
  type StoredPosition,
  type TopicTelemetry,
  withoutEnds,
} from './kafka-positions.ts';
import type { KafkaSourceOptions } from './kafka-source.ts';

/** A lane is a partition, by its number in digits; its resume token is the next offset, in digits too. */
export const TOPIC_KIND: SourceKind<TopicSettings, TopicTelemetry> = {
  kind: 'topic',
  resumes: true,
  placeOf: ({ lane, offset }) => ({ partition: Number(lane), offset }),
  // Loaded only in the thread that reads: kafkajs is large, and the writer's thread does not need it.
  async open(settings, context) {
    return (await import('./kafka-source.ts')).openKafkaSource(optionsOf(settings, context));
  },
  async watch(settings, context) {
    return (await import('./kafka-source.ts')).openKafkaWatch(optionsOf(settings, context));
  },
  follow: followTopic,
};

function optionsOf(settings: TopicSettings, { directoryId, ...context }: SourceContext): KafkaSourceOptions {
  const { brokers, ssl, sasl, group, ...rest } = settings;
  return { ...rest, ...context, connection: { brokers, ssl, sasl }, group: group ?? `holdfast-${directoryId}` };
}

/** The topic's status, from its last telemetry and what the views have by now. */
export function followTopic(name: string): { status(state: SourceState<TopicTelemetry>): SourceStatus } {
  // Each session with the brokers knows only what it has read itself.
  let newest: Micros | null = null;
  let last: TopicTelemetry | null = null;

  function status(state: SourceState<TopicTelemetry>): SourceStatus {
    const { telemetry, halted, refused, mayLeaveGap, appliedRecordTime } = state;
    const stored = positionsOf(state.lanes);
    // Earlier telemetry may be of another topic: its ends and times are not known.
    if (refused !== null) {
      const nothing = { ...NOTHING_READ, stopped: refused, partitions: withoutEnds(stored) };
      return statusOf(nothing, stored, appliedRecordTime);
    }
    // Until a watch after a halt has reported, the last telemetry before the halt is the newest.
    if (telemetry !== null) {
      const isEmpty = telemetry.partitions.length === 0;
      last = isEmpty ? { ...telemetry, partitions: last?.partitions ?? [] } : telemetry;
    }
    if (last === null || (telemetry === null && halted === null)) {
      const details = { position: positionOf(stored), topic: null };
      const stopped = `${name} is not read to its end yet`;
      return { stopped, blocking: [], caughtUpAt: null, lagMessages: null, lagBytes: null, lagSeconds: null, details };
    }
    const times = [newest, last.newestRecordTime, halted?.recordTime ?? null].filter((time) => time !== null);
    newest = times.length === 0 ? null : Math.max(...times);
    const shown = mayLeaveGap ? { ...last, stopped: last.stopped ?? notShown(name), caughtUpAt: null } : last;
    return statusOf({ ...shown, newestRecordTime: newest }, stored, appliedRecordTime);
  }

  return { status };
}

type StoredPartitions = ReadonlyMap<number, StoredPosition>;

function positionOf(stored: StoredPartitions): Record<string, number> {
  return Object.fromEntries([...stored].map(([partition, { nextOffset }]) => [partition, nextOffset]));
}

function statusOf(topic: TopicTelemetry, stored: StoredPartitions, appliedRecordTime: Micros | null): SourceStatus {
  const { stopped, blocking, caughtUpAt, newestRecordTime } = topic;
  const partitions = topic.partitions.map(({ partition, nextOffset: reported, endOffset, isIdle }) => {
    const position = stored.get(partition);
    // The source learns what is stored after each batch, but not of the part of a batch before a halt.
    const nextOffset = Math.max(reported, position?.nextOffset ?? 0);
    return {
      partition,
      first_offset: position?.firstOffset ?? null,
      next_offset: nextOffset,
      end_offset: endOffset,
      lag: endOffset === null ? null : Math.max(0, endOffset - nextOffset),
      passed_over: isIdle,
    };
  });
  const lags = partitions.flatMap(({ lag }) => lag ?? []);
  const isKnown = partitions.length > 0 && lags.length === partitions.length;
  const lagMessages = isKnown ? lags.reduce((sum, lag) => sum + lag, 0) : null;
  // Where nothing with a record time was read since the start, only the topic's end shows whether there is a lag.
  let lagSeconds = lagMessages === 0 ? 0 : null;
  if (newestRecordTime !== null && appliedRecordTime !== null)
    lagSeconds = Math.max(0, newestRecordTime - appliedRecordTime) / 1_000_000;
  const shown = {
    stopped,
    holding: blocking,
    lacking: lackingTexts(stored),
    caught_up_at: caughtUpAt === null ? null : new Date(caughtUpAt).toISOString(),
    lag_seconds: lagSeconds,
    newest_record_time: newestRecordTime === null ? null : formatTime(newestRecordTime),
    partitions,
  };
  const positions = positionOf(stored);
  const details = { position: positions, topic: shown };
  return { stopped, blocking, caughtUpAt, lagMessages, lagBytes: null, lagSeconds, positions, details };
}

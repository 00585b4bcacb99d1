import { formatTime } from '../../ledger/time.ts';
import { notShown, type SourceKind } from '../source.ts';
import type { TopicSettings } from './kafka-client.ts';
import { lackingTexts, NOTHING_READ, positionsOf, type TopicTelemetry } from './kafka-positions.ts';

/** A lane is a partition, by its number in digits; its resume token is the next offset, in digits too. */
export const TOPIC_KIND: SourceKind<TopicSettings, TopicTelemetry> = {
  kind: 'topic',
  resumes: true,
  locationOf: ({ lane, offset }) => ({ partition: Number(lane), offset }),
  // Loaded only in the thread that reads: kafkajs is large, and the writer's thread does not need it.
  async open(settings, context) {
    const { openKafkaSource } = await import('./kafka-source.ts');
    return openKafkaSource({ ...settings, ...context, group: settings.group ?? `holdfast-${context.directoryId}` });
  },
  status(name, { telemetry, lanes, refused, mayLeaveGap, appliedRecordTime }) {
    const stored = positionsOf(lanes);
    // Earlier telemetry of a topic that is refused may be of another one.
    const topic = (refused === null ? telemetry : null) ?? {
      ...NOTHING_READ,
      stopped: refused ?? `${name} is not read to its end yet`,
      partitions: [...stored].map(([partition, { nextOffset }]) => {
        return { partition, nextOffset, endOffset: null, isIdle: false };
      }),
    };
    const { blocking, newestRecordTime } = topic;
    const stopped = topic.stopped ?? (mayLeaveGap ? notShown(name) : null);
    const caughtUpAt = mayLeaveGap ? null : topic.caughtUpAt;
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
    const positions = Object.fromEntries([...stored].map(([partition, { nextOffset }]) => [partition, nextOffset]));
    const details = { position: positions, topic: shown };
    return { stopped, blocking, caughtUpAt, lagMessages, lagBytes: null, lagSeconds, positions, details };
  },
};

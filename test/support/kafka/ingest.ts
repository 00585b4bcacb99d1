import { TOPIC_KIND } from '../../../src/feed/kafka/kafka-kind.ts';
import type { SessionGuards } from '../../../src/feed/kafka/kafka-session.ts';
import { openKafkaSource } from '../../../src/feed/kafka/kafka-source.ts';
import type { Feed } from '../../../src/ingest/feed-thread.ts';
import { runLoop } from '../../../src/ingest/loop.ts';
import { makeDataDirectory } from '../../../src/views/store/database.ts';
import { ViewsWriter, type WriterOptions } from '../../../src/views/write/writer.ts';
import { openInlineFeed } from '../views/inline-feed.ts';
import { CLOCK_US, TEN_MINUTES_US } from '../views/replayed.ts';
import { keepingLogger } from './reading.ts';
import { plainConnection } from './topic.ts';

/** Steps between Kafka's mistakes and the views; tests leave one out to show that it is needed. */
export interface Guards {
  readonly session?: SessionGuards;
  readonly positions?: WriterOptions['positions'];
}

export interface TopicIngest extends AsyncDisposable {
  readonly writer: ViewsWriter;
  readonly feed: Feed;
  /** Applies until this much of partition 0 is stored. */
  until(nextOffset: number, waitMaxMs: number): Promise<void>;
}

/** Wires a topic to the views of a directory as the service does, in this thread and without the directory's lock. */
export function openIngest(
  place: { data: string; address: string; topic: string; group?: string },
  { session, positions }: Guards = {},
): TopicIngest {
  const { data, address, topic } = place;
  makeDataDirectory(data);
  const settings = { snapshotPeriodUs: TEN_MINUTES_US, dso: null, migrationId: null };
  const limits = { recordTimeGapMaxUs: Number.MAX_SAFE_INTEGER, recordTimeAheadMaxUs: 0 };
  const now = (): number => CLOCK_US;
  const optional = positions === undefined ? {} : { positions };
  const writer = new ViewsWriter(data, { ...settings, ...limits, onBadUpdate: 'halt', now, ...optional });
  const source = openKafkaSource({
    connection: plainConnection(address),
    topic,
    group: place.group ?? `g-${writer.directoryId}`,
    partitionIdleMs: null,
    migrationId: 0,
    stored: writer.storedSource,
    logger: keepingLogger(),
    ...(session === undefined ? {} : { guards: session }),
  });
  const feed = openInlineFeed(source, { migrationId: 0 });
  return {
    writer,
    feed,
    async until(nextOffset, waitMaxMs) {
      const stop = new AbortController();
      const isStored = (): boolean => writer.storedSource.lanes.get('0')?.cursor === String(nextOffset);
      const late = setTimeout(() => stop.abort(), waitMaxMs);
      await runLoop(writer, feed, {
        source: { name: `topic ${topic}`, kind: TOPIC_KIND },
        signal: stop.signal,
        onAhead: 'stop',
        persist: async (step) => step(),
        onCommit: () => isStored() && stop.abort(),
        onHalt: () => {},
      });
      clearTimeout(late);
      if (!isStored()) throw new Error(`offset ${nextOffset} was not reached within ${waitMaxMs} ms`);
    },
    async [Symbol.asyncDispose]() {
      await feed[Symbol.asyncDispose]();
      writer[Symbol.dispose]();
    },
  };
}

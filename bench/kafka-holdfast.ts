import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC_KIND } from '../src/feed/kafka/kind.ts';
import { openingContext, startFeedThread } from '../src/ingest/feed-thread.ts';
import { runLoop } from '../src/ingest/loop.ts';
import { topicSpec } from '../src/sources.ts';
import { ViewsWriter } from '../src/views/write/writer.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { reportRun } from './run-report.ts';

/** Consumes a topic of one partition up to an offset into new views, as `serve` does. */
const [address, topic, end] = process.argv.slice(2) as [string, string, string];

await reportRun(topic, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    using writer = new ViewsWriter(dataDir, REPLAY_OPTIONS);
    const kafka = { brokers: [address], ssl: null, sasl: null, topic, group: null, partitionIdleMs: null };
    const opening = { source: topicSpec(kafka), watch: false, decodeWorkers: null, context: openingContext(writer) };
    await using feed = startFeedThread(opening);
    const stop = new AbortController();
    const halted = await runLoop(writer, feed, {
      source: { name: topic, kind: TOPIC_KIND },
      signal: stop.signal,
      onAhead: 'stop',
      persist: async (step) => step(),
      onCommit: () => Number(writer.storedSource.lanes.get('0')?.cursor) >= Number(end) && stop.abort(),
      onHalt: () => {},
    });
    if (halted !== null) throw new Error(`the ingest halted: ${halted.reason}`);
    return { bytes: statSync(join(dataDir, 'views.db')).size };
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

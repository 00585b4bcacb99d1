import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFeedThread } from '../src/ingest/feed-thread.ts';
import { runLoop } from '../src/ingest/loop.ts';
import { ViewsWriter } from '../src/views/write/writer.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { reportRun } from './run-report.ts';

/** Consumes a topic of one partition up to an offset into new views, as `serve` does. */
const [address, topic, end] = process.argv.slice(2) as [string, string, string];

await reportRun(topic, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    using writer = new ViewsWriter(dataDir, REPLAY_OPTIONS);
    const connection = { brokers: [address], ssl: null, sasl: null };
    const group = `bench-${writer.directoryId}`;
    const spec = { connection, topic, group, partitionIdleMs: null, stored: writer.topicPosition };
    await using feed = startFeedThread({ kind: 'topic', topic: spec }, { migrationId: 0 });
    const stop = new AbortController();
    const halted = await runLoop(writer, feed, {
      source: { name: topic, topic: true },
      signal: stop.signal,
      now: REPLAY_OPTIONS.now,
      recordTimeAheadMaxUs: REPLAY_OPTIONS.recordTimeAheadMaxUs,
      onAhead: 'stop',
      persist: async (step) => step(),
      onCommit: () => writer.topicPosition.positions.get(0)?.nextOffset === Number(end) && stop.abort(),
      onHalt: () => {},
    });
    if (halted !== null) throw new Error(`the ingest halted: ${halted.reason}`);
    return { bytes: statSync(join(dataDir, 'views.db')).size };
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

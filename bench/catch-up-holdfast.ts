import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCAN_KIND } from '../src/feed/scan/kind.ts';
import { openingContext, startFeedThread } from '../src/ingest/feed-thread.ts';
import { runLoop } from '../src/ingest/loop.ts';
import { replayFiles } from '../src/ingest/replay.ts';
import { scanSpec } from '../src/sources.ts';
import { ViewsWriter } from '../src/views/write/writer.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { reportRun } from './run-report.ts';

/** Catches up from a Scan, as `serve` does, behind a file with its first update, until a place is stored. */
const [url, first, end] = process.argv.slice(2) as [string, string, string];

const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
try {
  await replayFiles({
    ...{ dataDir, files: [first], seal: false, decodeWorkers: 1, signal: new AbortController().signal },
    onProgress: () => {},
    ...REPLAY_OPTIONS,
  });
  await reportRun(url, async () => {
    using writer = new ViewsWriter(dataDir, REPLAY_OPTIONS);
    const scan = { urls: [`${url}/api/scan`], agree: 1, pageSize: 500, pollIntervalMs: 100, ca: null } as const;
    const source = scanSpec({ ...scan, start: 'snapshot' });
    await using feed = startFeedThread({ source, watch: false, decodeWorkers: null, context: openingContext(writer) });
    const stop = new AbortController();
    const halted = await runLoop(writer, feed, {
      source: { name: url, kind: SCAN_KIND },
      signal: stop.signal,
      now: REPLAY_OPTIONS.now,
      recordTimeAheadMaxUs: REPLAY_OPTIONS.recordTimeAheadMaxUs,
      onAhead: 'stop',
      persist: async (step) => step(),
      onCommit: () => writer.storedSource.lanes.get('updates')?.cursor === end && stop.abort(),
      onHalt: () => {},
    });
    if (halted !== null) throw new Error(`the ingest halted: ${halted.reason}`);
    return { bytes: statSync(join(dataDir, 'views.db')).size };
  });
} finally {
  rmSync(dataDir, { recursive: true });
}

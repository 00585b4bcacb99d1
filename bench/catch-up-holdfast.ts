import { mkdtempDisposableSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SourceSpec } from '../src/feed/source.ts';
import { openingContext, startFeedThread } from '../src/ingest/feed-thread.ts';
import { runLoop } from '../src/ingest/loop.ts';
import { replayFiles } from '../src/ingest/replay-files.ts';
import { knownKind } from '../src/sources.ts';
import { ViewsWriter } from '../src/views/write/writer.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { reportRun } from './run-report.ts';

export interface CatchUp {
  /** Of one lane. */
  readonly source: SourceSpec;
  /** Replayed before anything is measured; null for none. */
  readonly file: string | null;
  /** The resume token that is stored in the end. */
  readonly end: string;
}

/** Catches up from a topic or a network's node, as `serve` does. */
const { source, file, end } = JSON.parse(process.argv[2]!) as CatchUp;

/** A participant's checkpoint may be behind its last update. */
const isPast = (resumeToken: string | undefined): boolean => resumeToken === end || Number(resumeToken) >= Number(end);

using folder = mkdtempDisposableSync(join(tmpdir(), 'holdfast-bench-'));
const dataDir = folder.path;
if (file !== null) {
  await replayFiles({
    ...{ dataDir, files: [file], seal: false, decodeWorkers: 1, signal: new AbortController().signal },
    onProgress: () => {},
    ...REPLAY_OPTIONS,
  });
}
await reportRun(source.name, async () => {
  using writer = new ViewsWriter(dataDir, REPLAY_OPTIONS);
  await using feed = startFeedThread({ source, decodeWorkers: null, context: openingContext(writer) });
  const stop = new AbortController();
  const halted = await runLoop(writer, feed, {
    source: { name: source.name, kind: knownKind(source.kind)! },
    signal: stop.signal,
    onAhead: 'stop',
    persist: async (step) => step(),
    onCommit: () => {
      const [lane] = writer.storedSource.lanes.values();
      if (isPast(lane?.resumeToken)) stop.abort();
    },
    onHalt: () => {},
  });
  if (halted !== null) throw new Error(`the ingest halted: ${halted.reason}`);
  return { bytes: statSync(join(dataDir, 'views.db')).size };
});

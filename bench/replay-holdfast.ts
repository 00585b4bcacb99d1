import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSource } from '../src/feed/file/source.ts';
import { replayFiles } from '../src/ingest/replay.ts';
import { openInlineFeed } from '../test/support/views/inline-feed.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { reportRun } from './run-report.ts';

/** A replay by the program's own function; `inline` decodes in the writing thread, `worker` in one of its own. */
const threads = process.argv[3];
/** Where the views are left, with a last snapshot of all that the feed has; a folder that is removed again unless given. */
const kept = process.argv[4];

await reportRun(process.argv[2]!, async (path) => {
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const { halted } = await replayFiles({
      dataDir,
      files: [path],
      seal: kept !== undefined,
      signal: new AbortController().signal,
      onProgress: () => {},
      ...REPLAY_OPTIONS,
      ...(threads === 'inline'
        ? { openFeed: (file, migrationId) => openInlineFeed(openFileSource(file), { migrationId }) }
        : {}),
    });
    if (halted !== null) throw new Error(`the replay halted: ${halted.reason}`);
    return { bytes: statSync(join(dataDir, 'views.db')).size };
  } finally {
    if (kept === undefined) rmSync(dataDir, { recursive: true });
  }
});

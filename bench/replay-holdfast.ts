import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSource } from '../src/feed/file/file-source.ts';
import { replayFiles } from '../src/ingest/replay-files.ts';
import { openInlineFeed } from '../test/support/views/inline-feed.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { type RunReport, reportRun } from './run-report.ts';

export interface ReplayReport extends RunReport {
  readonly events: number;
  /** Sent to the disk by the process, as Linux counts it (write_bytes of /proc/self/io); NaN elsewhere. */
  readonly writtenBytes: number;
  /** The same for an event, over the last fifth of the events. */
  readonly lateBytes: number;
}

interface Written {
  readonly events: number;
  readonly bytes: number;
}

/** A replay by the program's own function; `inline` decodes in the writing thread, `worker` in others, `2` in two of them. */
const threads = process.argv[3];
/** Where the views are left, with a last snapshot of all that the feed has; a folder that is removed again where empty or not given. */
const kept = process.argv[4] || undefined;
/** Events of one transaction; as a replay has them by default unless given. */
const batchEventsMax = process.argv[5] ? Number(process.argv[5]) : undefined;
/** `off` leaves tokens out. */
const tokens = process.argv[6] === 'off' ? 'off' : null;

function writtenBytes(): number {
  if (process.platform !== 'linux') return Number.NaN;
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** Since the last commit before the last fifth of the events. */
function lateBytesOf(commits: readonly Written[]): number {
  const end = commits.at(-1)!;
  const from = commits.findLast(({ events }) => events <= end.events * 0.8) ?? { events: 0, bytes: 0 };
  return (end.bytes - from.bytes) / (end.events - from.events);
}

await reportRun(process.argv[2]!, async (path) => {
  const commits: Written[] = [];
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const { halted } = await replayFiles({
      dataDir,
      files: [path],
      seal: kept !== undefined,
      decodeWorkers: Number(threads) || null,
      signal: new AbortController().signal,
      onProgress: ({ counts }) => commits.push({ events: counts.events, bytes: writtenBytes() }),
      ...REPLAY_OPTIONS,
      tokens,
      ...(batchEventsMax === undefined ? {} : { batchEventsMax }),
      ...(threads === 'inline'
        ? { openFeed: (file, migrationId) => openInlineFeed(openFileSource(file), { migrationId }) }
        : {}),
    });
    if (halted !== null) throw new Error(`the replay halted: ${halted.reason}`);
    const { events, bytes } = commits.at(-1)!;
    const written = { events, writtenBytes: bytes, lateBytes: lateBytesOf(commits) };
    return { bytes: statSync(join(dataDir, 'views.db')).size, ...written };
  } finally {
    if (kept === undefined) rmSync(dataDir, { recursive: true });
  }
});

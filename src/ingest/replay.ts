import { FILE_KIND } from '../feed/file/kind.ts';
import { fileSpec } from '../sources.ts';
import { makeDataDirectory } from '../views/store/database.ts';
import type { DeadLetter } from '../views/store/dead-letters.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import type { Counts } from '../views/write/counts.ts';
import { ViewsWriter, type WriterOptions } from '../views/write/writer.ts';
import { type Feed, openingContext, startFeedThread } from './feed-thread.ts';
import { lookAtFiles, lookBeforeMaking } from './look-at-files.ts';
import { runLoop, stillHalted } from './loop.ts';
import type { DsoStatus } from './status.ts';

export interface ReplayOptions extends WriterOptions {
  readonly dataDir: string;
  readonly files: readonly string[];
  /** Seal a last snapshot at the last applied record time, as `force` does. */
  readonly seal: boolean;
  readonly signal: AbortSignal;
  readonly batchEventsMax?: number;
  /** At most so many threads decode. Null: as many as suit the cores. */
  readonly decodeWorkers: number | null;
  /** Opens the feed of a file; by default in a thread of its own. */
  readonly openFeed?: (path: string, migrationId: number) => Feed;
  readonly onProgress: (progress: { file: string; feed: Feed; counts: Counts }) => void;
}

export interface ReplayResult {
  readonly counts: Counts;
  /** The message at which the directory is halted, if it is. */
  readonly halted: DeadLetter | null;
  /** Dead letters left by this replay under `quarantine`. */
  readonly quarantined: number;
  readonly dso: DsoStatus;
}

/** Applies feed files to the views of a data directory, in the order given; used by `holdfast replay`. */
export async function replayFiles(options: ReplayOptions): Promise<ReplayResult> {
  const { dataDir, files } = options;
  await lookBeforeMaking(dataDir, files, options);
  makeDataDirectory(dataDir);
  using _lock = lockForWriting(dataDir);
  using writer = new ViewsWriter(dataDir, options);
  await lookAtFiles(files, writer, options);
  let halted = stillHalted(writer);
  const before = writer.deadLetters.countQuarantined();
  for (const file of files) {
    if (halted !== null || options.signal.aborted) break;
    halted = await replayFile(writer, file, options);
  }
  if (options.seal && halted === null && !options.signal.aborted) writer.force({ maySeal: true });
  const dso = { party: writer.state.dso, pinned: writer.state.dsoPinned };
  return { counts: writer.counts, halted, quarantined: writer.deadLetters.countQuarantined() - before, dso };
}

async function replayFile(writer: ViewsWriter, file: string, options: ReplayOptions): Promise<DeadLetter | null> {
  const { decodeWorkers } = options;
  await using feed =
    options.openFeed?.(file, writer.sourceMigrationId) ??
    startFeedThread({ source: fileSpec(file), watch: false, decodeWorkers, context: openingContext(writer) });
  return await runLoop(writer, feed, {
    source: { name: file, kind: FILE_KIND },
    signal: options.signal,
    onAhead: 'stop',
    ...(options.batchEventsMax === undefined ? {} : { batchEventsMax: options.batchEventsMax }),
    persist: async (step) => step(),
    onCommit: () => options.onProgress({ file, feed, counts: writer.counts }),
    onHalt: () => {},
  });
}

import { FILE_KIND } from '../feed/file/file-source.ts';
import type { SourceProgress } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import { fileSpec } from '../sources.ts';
import type { ThreadContract } from '../threads/thread.ts';
import { startThread, threadFile, WRITING } from '../threads/thread.ts';
import { makeDataDirectory } from '../views/store/database.ts';
import { createDeadLetterCounter, type DeadLetter } from '../views/store/dead-letter-store.ts';
import { lockForWriting } from '../views/store/writer-lock.ts';
import type { Counts } from '../views/write/state.ts';
import { ViewsWriter, type WriterOptions } from '../views/write/writer.ts';
import { type Feed, openingContext, startFeedThread } from './feed-thread.ts';
import { lookAtFiles, lookBeforeMaking } from './file-order.ts';
import type { DsoStatus } from './ingest-status.ts';
import { runLoop, stillHalted } from './loop.ts';

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
  readonly onProgress: (progress: ReplayProgress) => void;
}

export interface ReplayProgress {
  readonly file: string;
  readonly bytes: SourceProgress;
  readonly counts: Counts;
}

export interface ReplayResult {
  readonly counts: Counts;
  /** The message at which the directory is halted, if it is. */
  readonly halted: DeadLetter | null;
  /** Dead letters left by this replay under `quarantine`. */
  readonly quarantined: number;
  readonly dso: DsoStatus;
}

/** Applies feed files to the views of a data directory, in the order given. */
export async function replayFiles(options: ReplayOptions): Promise<ReplayResult> {
  const { dataDir, files } = options;
  await lookBeforeMaking(dataDir, files, options);
  makeDataDirectory(dataDir);
  using _lock = lockForWriting(dataDir);
  using writer = new ViewsWriter(dataDir, options);
  await lookAtFiles(files, writer, options);
  let halted = stillHalted(writer);
  const countDeadLetters = createDeadLetterCounter(writer.db);
  const { quarantined: before = 0 } = countDeadLetters();
  for (const file of files) {
    if (halted !== null || options.signal.aborted) break;
    halted = await replayFile(writer, file, options);
  }
  if (options.seal && halted === null && !options.signal.aborted) writer.force({ maySeal: true });
  const dso = { party: writer.state.dso, pinned: writer.state.dsoPinned };
  const { quarantined = 0 } = countDeadLetters();
  return { counts: writer.counts, halted, quarantined: quarantined - before, dso };
}

async function replayFile(writer: ViewsWriter, file: string, options: ReplayOptions): Promise<DeadLetter | null> {
  const { decodeWorkers } = options;
  await using feed =
    options.openFeed?.(file, writer.sourceMigrationId) ??
    startFeedThread({ source: fileSpec(file), decodeWorkers, context: openingContext(writer) });
  return await runLoop(writer, feed, {
    source: { name: file, kind: FILE_KIND },
    signal: options.signal,
    onAhead: 'stop',
    ...(options.batchEventsMax === undefined ? {} : { batchEventsMax: options.batchEventsMax }),
    persist: async (step) => step(),
    onCommit: () => options.onProgress({ file, bytes: feed.progress, counts: writer.counts }),
    onHalt: () => {},
  });
}

/** The part of a replay's options that can be sent to a thread. */
export type ReplayThreadOptions = Omit<ReplayOptions, 'signal' | 'now' | 'openFeed' | 'onProgress'>;

export interface ReplayContract extends ThreadContract {
  readonly data: ReplayThreadOptions;
  readonly requests: { readonly replay: (nothing: null) => ReplayResult };
  readonly notices: { readonly progress: ReplayProgress };
}

/** `replayFiles` in a thread of its own, with bounded memory, so that the caller's thread is free for the terminal: `holdfast replay`. */
export async function replayInThread(
  options: ReplayThreadOptions,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: ReplayProgress) => void },
): Promise<ReplayResult> {
  await using thread = startThread<ReplayContract>(threadFile('replay-worker', import.meta.url), {
    name: 'writer',
    data: options,
    on: { progress: onProgress },
    errors: [Refusal],
    worker: WRITING,
  });
  if (signal.aborted) thread.stop();
  signal.addEventListener('abort', thread.stop, { once: true });
  try {
    return await thread.call('replay', null);
  } finally {
    signal.removeEventListener('abort', thread.stop);
  }
}

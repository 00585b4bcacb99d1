import type { SourceSpec } from '../feed/source.ts';
import { Refusal } from '../refusal.ts';
import type { ThreadContract, ThreadLogger } from '../threads/thread.ts';
import { startThread, threadFile, WRITING } from '../threads/thread.ts';
import type { DirectorySettings } from '../views/store/database.ts';
import type { ForceOutcome } from '../views/write/seals.ts';
import type { IngestStatus, Timed } from './ingest-status.ts';

/** What the writer's thread is started with. */
export interface IngestSettings extends DirectorySettings {
  readonly dataDir: string;
  readonly files: readonly string[];
  /** Sources read after the files, in this order. */
  readonly sources: readonly SourceSpec[];
  /** At most so many threads decode. Null: as many as suit the cores. */
  readonly decodeWorkers: number | null;
  readonly onBadUpdate: 'halt' | 'quarantine';
  readonly recordTimeAheadMaxUs: number;
  readonly recordTimeGapMaxUs: number;
}

export interface WriterContract extends ThreadContract {
  readonly data: IngestSettings;
  readonly requests: {
    /** Follows the sources until it is stopped. */
    readonly follow: (nothing: null) => void;
    /** Seals a snapshot between batches. */
    readonly force: (options: { readonly maySeal: boolean }) => ForceOutcome;
  };
  readonly notices: { readonly status: IngestStatus; readonly timed: Timed };
}

export interface Ingest extends AsyncDisposable {
  readonly status: IngestStatus;
  /** Seals a snapshot between batches. */
  force(options: { readonly maySeal: boolean }): Promise<ForceOutcome>;
  /** Resolves when the thread has ended; rejects with the error that ended it. */
  readonly ended: Promise<void>;
}

/** How long a stop waits for the current batch to be committed, before the thread is terminated. */
const STOP_GRACE_MS = 20_000;

/** Starts the writer's thread and returns when views.db is open. Throws a Refusal where the directory is refused. */
export async function startIngest(
  settings: IngestSettings,
  onStatus: (status: IngestStatus, before: IngestStatus | null) => void,
  { logger, onTimed = () => {} }: { logger?: ThreadLogger; onTimed?: (timed: Timed) => void } = {},
): Promise<Ingest> {
  const opened = Promise.withResolvers<void>();
  let status: IngestStatus | null = null;
  const thread = startThread<WriterContract>(threadFile('writer-worker', import.meta.url), {
    name: 'writer',
    data: settings,
    on: {
      status(next) {
        const before = status;
        status = next;
        opened.resolve();
        onStatus(next, before);
      },
      timed: onTimed,
    },
    errors: [Refusal],
    logger,
    stopGraceMs: STOP_GRACE_MS,
    worker: WRITING,
  });
  const ended = thread.call('follow', null);
  ended.catch(() => {});
  try {
    await Promise.race([opened.promise, ended]);
  } catch (error) {
    await thread[Symbol.asyncDispose]();
    throw error;
  }
  return {
    get status() {
      return status!;
    },
    force: (options) => thread.call('force', options),
    ended,
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}

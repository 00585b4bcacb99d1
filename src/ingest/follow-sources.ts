import { FeedRefused, type SourceSpec } from '../feed/source.ts';
import { explained, mayPass } from '../machine-errors.ts';
import { RETRY_DISK, RETRY_OPENING, retry } from '../retry.ts';
import { fileSpec, knownKind, sourceKind } from '../sources.ts';
import type { ThreadLogger } from '../threads/thread.ts';
import type { DeadLetter } from '../views/store/dead-letter-store.ts';
import { MigrationIdMissing, PossibleGap } from '../views/write/source-start.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import { openingContext, startFeedThread } from './feed-thread.ts';
import { lookAtFiles } from './file-order.ts';
import type { FollowedSource, StatusReporter } from './ingest-status.ts';
import { awaitClock, type LoopOptions, runLoop, stillHalted } from './loop.ts';
import type { IngestSettings } from './writer-thread.ts';

export interface Following {
  readonly settings: IngestSettings;
  readonly writer: ViewsWriter;
  readonly status: StatusReporter;
  readonly signal: AbortSignal;
  readonly logger: ThreadLogger;
  /** Called for each batch with how long decoding it took. */
  readonly onDecoded: (seconds: number) => void;
}

/** Arguments of every source's loop. */
type LoopOfAll = Pick<LoopOptions, 'signal' | 'persist' | 'onHalt'>;

/**
 * Reads the files and then the other sources, until a message halts one of them, one is refused or the signal
 * aborts. In a directory that is already halted nothing is read, unless the halt only waits for the clock.
 */
export async function followSources(following: Following): Promise<void> {
  const { settings, writer, status, signal } = following;
  const { files } = settings;
  const loop = createLoop(following);
  await lookAtFiles(files, writer, { ...settings, signal });
  const sources = await Promise.all([...files.map(fileSpec), ...settings.sources].map(followed));
  await resumeHalt(following, loop, sources);
  const shouldContinue = (): boolean => status.state.halted === null && !signal.aborted;
  try {
    for (const source of sources) {
      if (shouldContinue()) await follow(following, loop, source);
    }
    if (!signal.aborted) status.report({ phase: status.state.halted === null ? 'caught_up' : 'halted' });
  } catch (error) {
    // What could not be written before the stop is read again at the next start.
    const isStopped = signal.aborted && mayPass(error, 'running');
    if (!(isStopped || isOfSource(error, status.state.source))) throw error;
    status.set({ lastError: errorNow(error) });
    if (!isStopped) status.report({ phase: 'refused' });
  }
}

/** Why a source that resumes is refused; the service continues without it. A file that is refused ends the process. */
function isOfSource(error: unknown, source: FollowedSource | null): error is Error {
  if (error instanceof FeedRefused || error instanceof PossibleGap) return true;
  return error instanceof MigrationIdMissing && source?.kind.resumes === true;
}

async function followed(spec: SourceSpec): Promise<FollowedSource> {
  return { spec, kind: await sourceKind(spec.kind) };
}

function createLoop(following: Following): LoopOfAll {
  const { status, signal } = following;
  const onFailure = failing(following);
  const onRecovery = (): void => status.report({ phase: 'reading' });
  return {
    signal,
    persist: (step) => retry(RETRY_DISK, step, { signal, onFailure, onRecovery }),
    onHalt: (halted) => status.report({ halted, phase: phaseOf(halted) }),
  };
}

function phaseOf(halted: DeadLetter | null): 'reading' | 'waiting_for_clock' | 'halted' {
  if (halted === null) return 'reading';
  return halted.kind === 'ahead' ? 'waiting_for_clock' : 'halted';
}

function failing({ status }: Following): (failed: { readonly error: Error }) => void {
  return ({ error }) => status.report({ lastError: errorNow(error), phase: 'retrying' });
}

function errorNow(error: Error): { at: string; message: string } {
  return { at: new Date().toISOString(), message: explained(error) };
}

/** Reports the directory's halt, and waits for the clock where that ends it. */
async function resumeHalt(following: Following, loop: LoopOfAll, sources: readonly FollowedSource[]): Promise<void> {
  const { writer, status } = following;
  const halted = await loop.persist(() => stillHalted(writer));
  if (halted !== null) {
    const spec = { kind: halted.sourceKind, name: halted.source, settings: null };
    const given = sources.find((source) => source.spec.name === spec.name);
    status.set({ source: given ?? (knownKind(spec.kind) && (await followed(spec))) });
  }
  if (halted?.kind !== 'ahead') return status.report({ halted });
  loop.onHalt(halted);
  await awaitClock(writer, halted, loop);
}

/** A source continues from what the views have stored, so it may be opened any number of times. */
function follow(following: Following, loop: LoopOfAll, source: FollowedSource): Promise<void> {
  const { signal } = following;
  const once = (): Promise<void> => followOnce(following, loop, source);
  return retry(RETRY_OPENING, once, { signal, onFailure: failing(following) });
}

async function followOnce(following: Following, loop: LoopOfAll, source: FollowedSource): Promise<void> {
  const { settings, writer, status, logger, onDecoded } = following;
  const { kind, spec } = source;
  await using feed = startFeedThread(
    { source: spec, decodeWorkers: settings.decodeWorkers, context: openingContext(writer) },
    {
      logger,
      onTelemetry: status.reportProgress,
      onDecoded,
    },
  );
  status.report({ source, feed, phase: 'reading' });
  const halted = await runLoop(writer, feed, {
    ...loop,
    source: { name: spec.name, kind },
    onAhead: 'wait',
    onCommit: status.reportProgress,
  });
  // The last telemetry of a source without an end stays in the status.
  status.set({ halted, feed: kind.resumes ? feed : null });
}

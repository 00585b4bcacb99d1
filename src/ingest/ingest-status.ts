import type { SourceKind, SourceSpec, SourceStatus } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import { mayPass } from '../machine-errors.ts';
import type { TokenStatus } from '../views/read/stored-status.ts';
import { createDeadLetterCounter, type DeadLetter, type DeadLetterFacts } from '../views/store/dead-letter-store.ts';
import { mayLeaveGap } from '../views/write/source-start.ts';
import type { Counts } from '../views/write/state.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import type { Feed } from './feed-thread.ts';

/** The status is sent to the main thread at most this often, unless a phase changes. */
export const STATUS_INTERVAL_MS = 200;

/** The ingest's status, sent to the main thread after commits and when its phase changes. */
export interface IngestStatus {
  readonly phase:
    | 'starting'
    /** Messages are read and applied. */
    | 'reading'
    /** Everything in the sources is applied, and they have ended; or there is no source. */
    | 'caught_up'
    /** Stopped at a message until the operator decides. */
    | 'halted'
    /** Stopped at a message that is ahead of our clock; continues by itself. */
    | 'waiting_for_clock'
    /** The disk or the database is unavailable; tried again. */
    | 'retrying'
    /** The source does not continue what is in the views; `lastError` says what to do. */
    | 'refused'
    | 'stopped';
  /** The one that is read, or was read last. */
  readonly source: { readonly name: string; readonly kind: string; readonly status: SourceStatus } | null;
  readonly halted: DeadLetterFacts | null;
  /** The newest dead letter that was quarantined since the start. */
  readonly quarantined: DeadLetterFacts | null;
  readonly dso: DsoStatus;
  readonly tokens: TokenStatus;
  /** The newest record time applied; null before the first. */
  readonly appliedRecordTime: Micros | null;
  /** The time of the newest snapshot import; null where there is none. */
  readonly importedAt: Micros | null;
  readonly counts: Counts;
  /** Counts of dead letters by decision, as stored. */
  readonly deadLetters: Readonly<Record<string, number>>;
  readonly lastError: { readonly at: string; readonly message: string } | null;
}

/** The DSO whose coins count, once known; `pinned` where an operator named it. */
export interface DsoStatus {
  readonly party: string | null;
  readonly pinned: boolean;
}

/** A warning about a DSO that was taken from the feed, with the option that pins it; null where it is pinned or unknown. */
export function dsoWarning({ party, pinned }: DsoStatus): string | null {
  return party === null || pinned ? null : `the DSO is the first one seen; pin it with --dso "${party}"`;
}

/** The part of the status that the reading of sources sets; the rest is read from the views and the feed. */
export interface IngestState {
  readonly phase: IngestStatus['phase'];
  readonly halted: DeadLetter | null;
  readonly source: FollowedSource | null;
  /** Null before the source is opened, after the end of a file, and where the directory was already halted at it. */
  readonly feed: Feed | null;
  readonly lastError: IngestStatus['lastError'];
}

/** A source, open or not. */
export interface FollowedSource {
  readonly spec: SourceSpec;
  readonly kind: SourceKind;
}

/** Builds the status and reports it. */
export interface StatusReporter {
  readonly state: IngestState;
  /** Makes a change that is in the next report. */
  set(change: Partial<IngestState>): void;
  /** Makes a change and reports it at once. */
  report(change: Partial<IngestState>): void;
  /** Reports, unless the last report was a moment ago. */
  reportProgress(): void;
}

export function createStatusReporter(writer: ViewsWriter, onStatus: (status: IngestStatus) => void): StatusReporter {
  const deadLetterStatus = createDeadLetterStatus(writer);
  let state: IngestState = { phase: 'starting', halted: null, source: null, feed: null, lastError: null };
  let reportedAt = Number.NEGATIVE_INFINITY;

  function reportNow(): void {
    reportedAt = performance.now();
    const { phase, halted, lastError } = state;
    const appliedRecordTime = timeApplied(writer);
    onStatus({
      phase,
      source: sourceStatus(state, writer, appliedRecordTime),
      halted: halted && deadLetterFacts(halted),
      ...deadLetterStatus(),
      dso: { party: writer.state.dso, pinned: writer.state.dsoPinned },
      tokens: tokenStatusOf(writer.state),
      appliedRecordTime,
      importedAt: importedAt(writer),
      counts: writer.counts,
      lastError,
    });
  }
  function set(change: Partial<IngestState>): void {
    state = { ...state, ...change };
  }

  return {
    get state() {
      return state;
    },
    set,
    report(change) {
      set(change);
      reportNow();
    },
    reportProgress() {
      if (performance.now() - reportedAt >= STATUS_INTERVAL_MS) reportNow();
    },
  };
}

/** The counts of dead letters, and the newest one quarantined since the start; the previous ones where they cannot be read. */
function createDeadLetterStatus(writer: ViewsWriter): () => Pick<IngestStatus, 'deadLetters' | 'quarantined'> {
  const countDeadLetters = createDeadLetterCounter(writer.db);
  let deadLetters: IngestStatus['deadLetters'] | null = null;
  let quarantined: DeadLetterFacts | null = null;
  return () => {
    try {
      const before = deadLetters;
      deadLetters = countDeadLetters();
      // The first count is only a base: dead letters of earlier starts are not reported as new.
      if (before !== null && deadLetters.quarantined !== before.quarantined)
        quarantined = writer.deadLetters.newestQuarantined();
    } catch (error) {
      // The disk or the database may be unavailable for now: a status report must not end the ingest, which waits for it.
      if (!mayPass(error, 'running')) throw error;
    }
    return { deadLetters: deadLetters ?? {}, quarantined };
  };
}

function sourceStatus(
  state: IngestState,
  writer: ViewsWriter,
  appliedRecordTime: Micros | null,
): IngestStatus['source'] {
  const { phase, source, feed, lastError } = state;
  if (source === null) return null;
  const { name } = source.spec;
  const { kind, resumes } = source.kind;
  const lanes = [...writer.state.lanes].flatMap(([lane, { start, storedToken: resumeToken, sha256 }]) =>
    (start !== null) === resumes && resumeToken !== null ? [[lane, { start, resumeToken, sha256 }] as const] : [],
  );
  const status = source.kind.status(name, {
    telemetry: feed?.telemetry ?? null,
    progress: feed?.progress ?? null,
    lanes: new Map(lanes),
    appliedRecordTime,
    mayLeaveGap: mayLeaveGap(writer.state),
    refused: phase === 'refused' ? (lastError?.message ?? `${name} is refused`) : null,
    isAtEnd: phase === 'caught_up',
  });
  return { name, kind, status };
}

function tokenStatusOf({ tokens, unreadable }: ViewsWriter['state']): TokenStatus {
  return { tokens: tokens === null ? null : tokens ? 'on' : 'off', unreadable };
}

function importedAt(writer: ViewsWriter): Micros | null {
  const seeded = [...writer.state.migrations.values()].filter(
    (each) => each.importedAt !== null && each.timeReached !== null,
  );
  return seeded.sort((a, b) => a.migrationId - b.migrationId).at(-1)?.importedAt ?? null;
}

function timeApplied(writer: ViewsWriter): Micros | null {
  const reached = [...writer.state.migrations.values()].flatMap(({ timeReached }) => timeReached ?? []);
  return reached.length === 0 ? null : Math.max(...reached);
}

function deadLetterFacts(deadLetter: DeadLetter): DeadLetterFacts {
  const { sha256: _hash, length: _length, bytes: _bytes, createdAt: _at, ...facts } = deadLetter;
  return facts;
}

/** How long something of the writer's thread took once. */
export interface Timed {
  readonly what: 'commit' | 'seal' | 'decode';
  readonly seconds: number;
}

/** Times each call of a method, of all objects of a class, from outside: what is timed knows nothing of it. A call that throws is not counted. */
export function timeCalls<Name extends string>(
  prototype: Record<Name, (...given: never[]) => unknown>,
  name: Name,
  onTimed: (seconds: number) => void,
): void {
  const method = prototype[name] as (...given: unknown[]) => unknown;
  prototype[name] = function (this: unknown, ...given: unknown[]): unknown {
    const startMs = performance.now();
    const result = method.apply(this, given);
    onTimed((performance.now() - startMs) / 1000);
    return result;
  };
}

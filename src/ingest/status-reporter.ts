import type { SourceKind, SourceSpec, SourceState, SourceStatus } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import { mayPass } from '../machine-errors.ts';
import { createDeadLetterCounter, type DeadLetter, type DeadLetterFacts } from '../views/store/dead-letter-store.ts';
import { mayLeaveGap } from '../views/write/possible-gap.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import type { Feed } from './feed-thread.ts';
import { type IngestStatus, STATUS_INTERVAL_MS } from './status.ts';
import type { Timings } from './timings.ts';

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
  status(state: SourceState): SourceStatus;
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

export function createStatusReporter(
  writer: ViewsWriter,
  timings: Timings,
  onStatus: (status: IngestStatus) => void,
): StatusReporter {
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
      appliedRecordTime,
      seededAt: seededAt(writer),
      counts: writer.counts,
      timings,
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
  const { phase, halted, source, feed, lastError } = state;
  if (source === null) return null;
  const { name } = source.spec;
  const { kind, resumes } = source.kind;
  const lanes = [...writer.state.lanes].flatMap(([lane, { start, storedCursor: cursor, sha256 }]) =>
    (start !== null) === resumes && cursor !== null ? [[lane, { start, cursor, sha256 }] as const] : [],
  );
  const status = source.status({
    telemetry: feed?.telemetry ?? null,
    progress: feed?.progress ?? null,
    lanes: new Map(lanes),
    appliedRecordTime,
    mayLeaveGap: mayLeaveGap(writer.state),
    halted,
    refused: phase === 'refused' ? (lastError?.message ?? `${name} is refused`) : null,
    isAtEnd: phase === 'caught_up',
  });
  return { name, kind, status };
}

function seededAt(writer: ViewsWriter): Micros | null {
  const seeded = [...writer.state.migrations.values()].filter(
    (each) => each.seededAt !== null && each.timeReached !== null,
  );
  return seeded.sort((a, b) => a.migrationId - b.migrationId).at(-1)?.seededAt ?? null;
}

function timeApplied(writer: ViewsWriter): Micros | null {
  const reached = [...writer.state.migrations.values()].flatMap(({ timeReached }) => timeReached ?? []);
  return reached.length === 0 ? null : Math.max(...reached);
}

function deadLetterFacts(deadLetter: DeadLetter): DeadLetterFacts {
  const { sha256: _hash, length: _length, bytes: _bytes, createdAt: _at, ...facts } = deadLetter;
  return facts;
}

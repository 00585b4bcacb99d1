import type { SourceKind, SourceStanding, SourceStatus } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import { mayPass } from '../machine-errors.ts';
import { createDeadLetterCounter, type DeadLetter, type DeadLetterFacts } from '../views/store/dead-letters.ts';
import type { ViewsWriter } from '../views/write/writer.ts';
import type { Feed } from './feed-thread.ts';
import type { IngestStatus } from './status.ts';

/** The status is sent to the main thread at most this often, unless a phase changes. */
const STATUS_INTERVAL_MS = 200;

/** The part of the status that the reading of sources sets; the rest is read from the views and the feed. */
export interface Standing {
  readonly phase: IngestStatus['phase'];
  readonly halted: DeadLetter | null;
  readonly source: FollowedSource | null;
  readonly lastError: IngestStatus['lastError'];
}

/** A source, open or not. */
export interface FollowedSource {
  readonly name: string;
  readonly kind: SourceKind;
  readonly statusOf: (standing: SourceStanding) => SourceStatus;
  /** Null before it is opened, after the end of a file, and where the directory was already halted at it. */
  readonly feed: Feed | null;
}

/** Builds the status and reports it. */
export interface StatusReporter {
  readonly standing: Standing;
  /** Makes a change that is in the next report. */
  note(change: Partial<Standing>): void;
  /** Makes a change and reports it at once. */
  turn(change: Partial<Standing>): void;
  /** Reports, unless the last report was a moment ago. */
  report(): void;
}

export function createStatusReporter(writer: ViewsWriter, onStatus: (status: IngestStatus) => void): StatusReporter {
  const deadLetterStatus = createDeadLetterStatus(writer);
  let standing: Standing = { phase: 'starting', halted: null, source: null, lastError: null };
  let reportedAt = Number.NEGATIVE_INFINITY;

  function reportNow(): void {
    reportedAt = performance.now();
    const { phase, halted, lastError } = standing;
    onStatus({
      phase,
      source: sourceStatus(standing, writer),
      halted: halted && deadLetterFacts(halted),
      ...deadLetterStatus(),
      dso: { party: writer.state.dso, pinned: writer.state.dsoPinned },
      counts: writer.counts,
      lastError,
    });
  }
  function note(change: Partial<Standing>): void {
    standing = { ...standing, ...change };
  }

  return {
    get standing() {
      return standing;
    },
    note,
    turn(change) {
      note(change);
      reportNow();
    },
    report() {
      if (performance.now() - reportedAt >= STATUS_INTERVAL_MS) reportNow();
    },
  };
}

/** The counts of dead letters, and the newest one quarantined since the start; the previous ones where they cannot be read. */
function createDeadLetterStatus(writer: ViewsWriter): () => Pick<IngestStatus, 'deadLetters' | 'quarantined'> {
  const countDeadLetters = createDeadLetterCounter(writer.db);
  let deadLetters: IngestStatus['deadLetters'] | null = null;
  let quarantined: DeadLetterFacts | null = null;

  /** The first count is only a base: dead letters of earlier starts are not reported as new. */
  function look(): void {
    const before = deadLetters;
    deadLetters = countDeadLetters();
    if (before !== null && deadLetters.quarantined !== before.quarantined)
      quarantined = writer.deadLetters.newestQuarantined();
  }

  return () => {
    whileReadable(look);
    return { deadLetters: deadLetters ?? {}, quarantined };
  };
}

/** The disk or the database may be unavailable for now: a status report must not end the ingest, which waits for it. */
function whileReadable(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!mayPass(error, 'running')) throw error;
  }
}

function sourceStatus({ phase, halted, source, lastError }: Standing, writer: ViewsWriter): IngestStatus['source'] {
  if (source === null) return null;
  const { name, kind, statusOf, feed } = source;
  const resumes = kind.readAnew === null;
  const lanes = [...writer.state.lanes].flatMap(([lane, { start, storedCursor }]) =>
    (start !== null) === resumes && storedCursor !== null ? [[lane, { start, cursor: storedCursor }] as const] : [],
  );
  const status = statusOf({
    heard: feed?.heard ?? null,
    progress: feed?.progress ?? null,
    lanes: new Map(lanes),
    appliedRecordTime: appliedRecordTime(writer),
    halted,
    refused: phase === 'refused' ? (lastError?.message ?? `${name} is refused`) : null,
    isAtEnd: phase === 'caught_up',
  });
  return { name, kind: kind.kind, status };
}

function appliedRecordTime(writer: ViewsWriter): Micros | null {
  const reached = [...writer.state.migrations.values()].flatMap(({ timeReached }) => timeReached ?? []);
  return reached.length === 0 ? null : Math.max(...reached);
}

function deadLetterFacts({
  sha256: _hash,
  length: _length,
  bytes: _bytes,
  createdAt: _at,
  ...facts
}: DeadLetter): DeadLetterFacts {
  return facts;
}

import type { SourceStatus } from '../feed/source.ts';
import type { Micros } from '../ledger/time.ts';
import type { DeadLetterFacts } from '../views/store/dead-letter-store.ts';
import type { Counts } from '../views/write/counts.ts';
import type { Timings } from './timings.ts';

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
  /** The newest record time applied; null before the first. */
  readonly appliedRecordTime: Micros | null;
  /** The time of the seed that the newest seeded migration began with; null where there is none. */
  readonly seededAt: Micros | null;
  readonly counts: Counts;
  readonly timings: Timings;
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

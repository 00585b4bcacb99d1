import type { SourceStatus } from '../feed/source.ts';
import type { DeadLetterFacts } from '../views/store/dead-letters.ts';
import type { Counts } from '../views/write/counts.ts';

/** Where ingest stands; posted to the main thread after each commit and at each turn. */
export interface IngestStatus {
  readonly phase:
    | 'starting'
    /** Messages are read and applied. */
    | 'reading'
    /** The source's end was reached and everything there is applied; there may be no source at all. */
    | 'caught_up'
    /** Stopped at a message until a person decides. */
    | 'halted'
    /** Stopped at a message that is ahead of our clock; continues by itself. */
    | 'waiting_for_clock'
    /** The disk or the database refuses; tried again. */
    | 'retrying'
    /** The source does not continue what the views hold; `lastError` says what to do. */
    | 'refused'
    | 'stopped';
  /** The one that is read, or was read last. */
  readonly source: { readonly name: string; readonly kind: string; readonly status: SourceStatus } | null;
  readonly halted: DeadLetterFacts | null;
  /** The newest one that `quarantine` went on after since the start. */
  readonly quarantined: DeadLetterFacts | null;
  readonly dso: DsoStatus;
  readonly counts: Counts;
  /** Numbers of dead letters by decision; these are stored. */
  readonly deadLetters: Readonly<Record<string, number>>;
  readonly lastError: { readonly at: string; readonly message: string } | null;
}

/** The DSO whose coins count, once known; `pinned` where an operator named it. */
export interface DsoStatus {
  readonly party: string | null;
  readonly pinned: boolean;
}

/** What the log says of a DSO that nobody named, with the option that pins it; null where there is nothing to say. */
export function dsoWarning({ party, pinned }: DsoStatus): string | null {
  return party === null || pinned ? null : `the DSO is the first one seen; pin it with --dso "${party}"`;
}

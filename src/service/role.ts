import type { Registry } from 'prom-client';
import type { Answers } from '../holdings/answer.ts';
import type { HoldingsStore } from '../holdings/facts.ts';
import type { ForceSnapshot } from '../http/holdings-operations.ts';
import type { Health } from '../http/readiness.ts';
import type { StreamStatus } from '../http/stream-operation.ts';
import type { IngestStatus } from '../ingest/ingest-status.ts';
import type { Users } from '../users/open-users.ts';

/** A store that is open, and the answers from it. */
export interface Holdings {
  /** What it is, for the log. */
  readonly name: Readonly<Record<string, string>>;
  readonly store: HoldingsStore;
  readonly answers: Answers;
  /** Adds the metrics of this kind of store. */
  readonly measure: (registry: Registry) => void;
}

/** The part of a service that depends on whether it writes the views or only reads them, and on where they are. */
export interface Role extends AsyncDisposable {
  readonly holdings: Holdings;
  readonly health: Health;
  /** The status as streams are sent it. */
  readonly streamStatus: () => Promise<StreamStatus>;
  /** How often streams look for what is new. */
  readonly streamLookMs: number;
  /** Null where nothing is written. */
  readonly ingestStatus: (() => IngestStatus) | null;
  /** Null where forced snapshots are disabled. */
  readonly force: ForceSnapshot | null;
  /** Null where there is no users' area. */
  readonly users: Users | null;
  /** Rejects when a part that the service needs has died. */
  readonly failed: Promise<never>;
}

import type { HoldingsStore } from '../holdings/facts.ts';
import type { ForceSnapshot } from '../http/holdings/force.ts';
import type { StreamStatus } from '../http/insight/stream/status.ts';
import type { Health } from '../http/service/health.ts';
import type { IngestStatus } from '../ingest/status.ts';
import type { Users } from '../users/open-users.ts';

/** The part of a service that depends on whether it writes the views or only reads what another process writes. */
export interface Role extends AsyncDisposable {
  readonly health: (store: HoldingsStore) => Health;
  /** The status as streams are sent it. */
  readonly streamStatus: () => StreamStatus;
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

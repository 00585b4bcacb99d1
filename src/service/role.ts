import type { HoldingsStore } from '../holdings/facts.ts';
import type { ForceSnapshot } from '../http/holdings/force.ts';
import type { Health } from '../http/service/health.ts';
import type { Users } from '../users/open-users.ts';

/** What a service is beside the views that it answers from: it writes them, or only reads what another process writes. */
export interface Role extends AsyncDisposable {
  readonly health: (store: HoldingsStore) => Health;
  /** Null where snapshots are not forced. */
  readonly force: ForceSnapshot | null;
  /** Null where there is no users' area. */
  readonly users: Users | null;
  /** Rejects when a part that the service cannot do without has died. */
  readonly failed: Promise<never>;
}

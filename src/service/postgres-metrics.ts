import type { Registry } from 'prom-client';
import { gauges } from '../http/server/metrics.ts';
import type { PostgresStore } from '../postgres/store.ts';
import { knownNow, shared } from './metrics.ts';

/** What `/metrics` says of a store in PostgreSQL. What only the database knows is left out while it is away. */
export function measurePostgres(registry: Registry, store: PostgresStore): void {
  const standing = shared(() => knownNow(store.standing()));
  const of = (figure: 'unsealed' | 'faults' | 'late') => async () => (await standing())?.[figure] ?? null;
  gauges(registry, {
    holdfast_store_unsealed_intervals: {
      help: 'Intervals that the engine has closed and that are not sealed.',
      read: of('unsealed'),
    },
    holdfast_store_faults: { help: "Events that are no ledger's, in table fault.", read: of('faults') },
    holdfast_store_late_events: { help: 'Events behind an interval that was closed, in table late.', read: of('late') },
    holdfast_store_contradictions: {
      help: 'Migrations of which nothing more is sealed, because their rows contradict each other.',
      read: async () => (await standing())?.contradictions.length ?? null,
    },
    holdfast_store_connections_busy: {
      help: 'Connections to PostgreSQL that run a statement of a client.',
      read: () => store.load().busy,
    },
    holdfast_reads_waiting: { help: 'Reads that wait for such a connection.', read: () => store.load().waiting },
  });
}

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { answersFrom } from '../holdings/answer.ts';
import type { AnswerRules } from '../holdings/summary-answer.ts';
import { gauges } from '../http/prometheus.ts';
import { describeServer } from '../postgres/connection.ts';
import { startSealer } from '../postgres/sealer.ts';
import type { PostgresSettings } from '../postgres/settings.ts';
import { openPostgresStore, type PostgresStore } from '../postgres/store.ts';
import { createPostgresHealth } from './postgres-health.ts';
import { READ_ONLY_LOOK_MS, type Role } from './roles.ts';
import { knownNow, shared } from './service-metrics.ts';

/** Reads what a stream engine writes, and seals it. The database need not be there yet: until it is, nothing is ready. */
export function openPostgres(
  settings: PostgresSettings,
  { version, rules, logger }: { version: string; rules: AnswerRules; logger: Logger },
): Role {
  const store = openPostgresStore(settings, { logger });
  const sealer = startSealer(settings, logger);
  const name = describeServer(settings);
  const health = createPostgresHealth(store, { name, version, sealFailure: sealer.failure });
  return {
    holdings: {
      name: { store: name },
      store,
      answers: {
        json: (question, asker) => answersFrom(store.for(asker()), rules).json(question),
        table: (question, form, asker) => answersFrom(store.for(asker()), rules).table(question, form),
      },
      measure: (registry) => measurePostgres(registry, store),
    },
    health,
    streamStatus: async () => {
      const { ready, reasons, degraded } = await health.lately();
      const ofIngest = { phase: 'caught_up', lag_seconds: null, updates: 0, halted: null } as const;
      return { ...ofIngest, degraded: [...degraded], ready, reasons: [...reasons], source: null };
    },
    streamLookMs: READ_ONLY_LOOK_MS,
    ingestStatus: null,
    force: null,
    users: null,
    failed: new Promise(() => {}),
    async [Symbol.asyncDispose]() {
      await sealer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** What `/metrics` says of a store in PostgreSQL. What only the database knows is left out while it is away. */
function measurePostgres(registry: Registry, store: PostgresStore): void {
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

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Answers, answersFrom, type SignalOf } from '../holdings/answer.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import type { AnswerRules } from '../holdings/summary-answer.ts';
import { gauges, knownNow, shared } from '../http/prometheus.ts';
import { type Health, newestSnapshots, type Readiness, readiness } from '../http/service-operations.ts';
import { formatTime } from '../ledger/time.ts';
import { describeServer, type PostgresSettings } from './postgres-settings.ts';
import { openPostgresStore, type PostgresStore, sealingStops } from './postgres-store.ts';
import { startSealer } from './sealer.ts';

/** The part of a service that reads what a stream engine writes, and seals it. The database need not be there yet: until it is, nothing is ready. */
export function openPostgres(
  settings: PostgresSettings,
  { version, rules, logger }: { version: string; rules: AnswerRules; logger: Logger },
) {
  const store = openPostgresStore(settings, { logger });
  const sealer = startSealer(settings, logger);
  const name = describeServer(settings);
  const answersOf = (signalOf: SignalOf) => answersFrom(store.for(signalOf()), rules);
  return {
    name: { store: name },
    store,
    streamStore: store,
    answers: {
      json: (question, signalOf) => answersOf(signalOf).json(question),
      table: (question, form, signalOf) => answersOf(signalOf).table(question, form),
    } satisfies Answers,
    measure: (registry: Registry) => measurePostgres(registry, store),
    health: createPostgresHealth(store, { name, version, sealFailure: sealer.failure }),
    streamStatus({ ready, reasons, degraded }: Readiness) {
      const ofIngest = { phase: 'caught_up', lag_seconds: null, updates: 0, halted: null } as const;
      return { ...ofIngest, degraded: [...degraded], ready, reasons: [...reasons], source: null };
    },
    streamLookMs: 1_000,
    onCommit: null,
    ingestStatus: null,
    force: null,
    users: null,
    failed: new Promise<never>(() => {}),
    async [Symbol.asyncDispose]() {
      await sealer[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function createPostgresHealth(
  store: PostgresStore,
  { name, version, sealFailure }: { name: string; version: string; sealFailure: () => string | null },
): Health {
  return {
    async ready() {
      try {
        const stops = sealingStops(await store.standing());
        const failure = sealFailure();
        const lines = failure === null ? stops : [`nothing can be sealed: ${failure}`, ...stops];
        return await readiness(store, null, lines);
      } catch (error) {
        if (!(error instanceof HoldingsFault)) throw error;
        return { ready: false, reasons: [error.message], causes: ['store_unavailable'], degraded: [] };
      }
    },
    async status() {
      const about = { version, phase: 'read_only', source: null };
      try {
        const { dso, importedAt, unsealed, faults, late, contradictions } = await store.standing();
        const newest = await store.facts({ kind: 'newest snapshots' });
        const newestUs = newest.at(-1)?.recordTime;
        const counts = { unsealed_intervals: unsealed, faults, late_events: late, contradictions };
        return {
          ...about,
          store: { name, available: true, ...counts },
          newest_snapshot_age_seconds: newestUs === undefined ? null : Math.floor((Date.now() - newestUs / 1e3) / 1e3),
          snapshots: newestSnapshots(newest),
          seeded_at: importedAt && formatTime(importedAt),
          dso,
          dso_pinned: true,
          last_error: sealFailure(),
        };
      } catch (error) {
        if (!(error instanceof HoldingsFault)) throw error;
        return { ...about, store: { name, available: false }, snapshots: [], last_error: error.message };
      }
    },
  };
}

/** What only the database knows is left out of `/metrics` while it is away. */
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

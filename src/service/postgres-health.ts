import { HoldingsFault } from '../holdings/holdings-fault.ts';
import type { Health, Readiness } from '../http/readiness.ts';
import { sealingStops } from '../postgres/standing.ts';
import type { PostgresStore } from '../postgres/store.ts';
import { newestSnapshots, readiness, timeOrNull } from './health.ts';

export interface PostgresHealth extends Health {
  /** As `ready`, at most `LOOK_MS` old. */
  lately(): Promise<Readiness>;
}

/** How old what streams are told may be. */
const LOOK_MS = 5_000;

/** Health of a process that reads and seals what an engine writes to PostgreSQL. */
export function createPostgresHealth(
  store: PostgresStore,
  { name, version, sealFailure }: { name: string; version: string; sealFailure: () => string | null },
): PostgresHealth {
  let last: { readonly readiness: Promise<Readiness>; readonly atMs: number } | null = null;

  async function linesNow(): Promise<readonly string[]> {
    const failure = sealFailure();
    const stops = sealingStops(await store.standing()).map(({ what }) => what);
    return failure === null ? stops : [`nothing can be sealed: ${failure}`, ...stops];
  }

  async function ready(): Promise<Readiness> {
    try {
      return await readiness(store, null, await linesNow());
    } catch (error) {
      if (!(error instanceof HoldingsFault)) throw error;
      return { ready: false, reasons: [error.message], causes: ['store_unavailable'], degraded: [] };
    }
  }

  return {
    ready,
    async status() {
      const about = { version, phase: 'read_only', source: null };
      try {
        const { dso, seededAt, unsealed, faults, late, contradictions } = await store.standing();
        const newest = await store.facts({ kind: 'newest snapshots' });
        const newestUs = newest.at(-1)?.recordTime;
        return {
          ...about,
          store: {
            name,
            available: true,
            unsealed_intervals: unsealed,
            faults,
            late_events: late,
            contradictions,
          },
          newest_snapshot_age_seconds: newestUs === undefined ? null : Math.floor((Date.now() - newestUs / 1e3) / 1e3),
          snapshots: newestSnapshots(newest),
          seeded_at: timeOrNull(seededAt),
          dso,
          dso_pinned: true,
          last_error: sealFailure(),
        };
      } catch (error) {
        if (!(error instanceof HoldingsFault)) throw error;
        return { ...about, store: { name, available: false }, snapshots: [], last_error: error.message };
      }
    },
    lately() {
      if (last === null || performance.now() - last.atMs >= LOOK_MS)
        last = { readiness: ready(), atMs: performance.now() };
      return last.readiness;
    },
  };
}

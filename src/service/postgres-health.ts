import { NO_SNAPSHOT, newestSnapshots, timeOrNull } from '../health.ts';
import { HoldingsFault } from '../holdings/fault.ts';
import type { Health, Readiness } from '../http/service/health.ts';
import { type StoreStanding, sealingStops } from '../postgres/standing.ts';
import type { PostgresStore } from '../postgres/store.ts';

export interface PostgresHealth extends Health {
  /** What is wrong although it answers, as of the last look. */
  degraded(): string[];
}

/** How old what streams are told may be. */
const LOOK_MS = 5_000;

/** Health of a process that reads and seals what an engine writes to PostgreSQL. */
export function createPostgresHealth({
  store,
  name,
  version,
  sealFailure,
  clockMs,
}: {
  readonly store: PostgresStore;
  readonly name: string;
  readonly version: string;
  readonly sealFailure: () => string | null;
  readonly clockMs: () => number;
}): PostgresHealth {
  let last: { readonly lines: readonly string[]; readonly atMs: number } = { lines: [], atMs: -LOOK_MS };

  function remember(lines: readonly string[]): void {
    last = { lines, atMs: performance.now() };
  }

  function linesOf(standing: StoreStanding): readonly string[] {
    const failure = sealFailure();
    const stops = sealingStops(standing).map(({ what }) => what);
    return failure === null ? stops : [`nothing can be sealed: ${failure}`, ...stops];
  }

  async function ready(): Promise<Readiness> {
    try {
      const degraded = linesOf(await store.standing());
      remember(degraded);
      const hasSnapshot = (await store.facts({ kind: 'newest snapshots' })).length > 0;
      if (hasSnapshot) return { ready: true, reasons: [], causes: [], degraded };
      return { ready: false, reasons: [NO_SNAPSHOT], causes: ['no_snapshot'], degraded };
    } catch (error) {
      if (!(error instanceof HoldingsFault)) throw error;
      remember([error.message]);
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
        const ageSeconds = newestUs === undefined ? null : Math.floor((clockMs() - newestUs / 1_000) / 1_000);
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
          newest_snapshot_age_seconds: ageSeconds,
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
    degraded() {
      if (performance.now() - last.atMs >= LOOK_MS) {
        remember(last.lines);
        // A fault that is not of the store was told already to whoever asked for it.
        void ready().catch(() => {});
      }
      return [...last.lines];
    },
  };
}

import { counted } from '../counted.ts';
import { FLAT_MIGRATION_MAX, type Micros } from '../ledger/time.ts';

/** How much of what the engine has written is not sealed, and why. */
export interface StoreStanding {
  readonly unsealed: number;
  readonly faults: number;
  readonly late: number;
  /** What stops a migration, for a person. */
  readonly contradictions: readonly string[];
  /** The time of the seed of the newest migration that began with one; null for none. */
  readonly seededAt: Micros | null;
}

/** One row, a `StoreStanding`. Of every number that a migration may have, the last link is looked up: there may be a million rows. */
export const STANDING = `SELECT
  (SELECT COALESCE(sum(last - COALESCE(last_link, 0)), 0)::bigint FROM generate_series(0, ${FLAT_MIGRATION_MAX}) m
    CROSS JOIN LATERAL (SELECT max(link) AS last FROM snapshot_control WHERE migration_id = m) c
    LEFT JOIN sealed s ON s.migration_id = m WHERE last IS NOT NULL) AS unsealed,
  (SELECT count(*) FROM fault) AS faults, (SELECT count(*) FROM late) AS late,
  ARRAY(SELECT format('interval %s of migration %s: %s', seq, migration_id, reason) FROM contradiction ORDER BY migration_id)
    AS contradictions,
  (SELECT seeded_at FROM sealed WHERE seeded_at > 0 ORDER BY migration_id DESC LIMIT 1) AS "seededAt"`;

/** What keeps intervals from being sealed until somebody decides. */
export interface SealingStop {
  readonly cause: 'fault' | 'late' | 'contradiction';
  /** For a person. */
  readonly what: string;
}

export function sealingStops(store: Pick<StoreStanding, 'faults' | 'late' | 'contradictions'>): SealingStop[] {
  const stops: SealingStop[] = [];
  const add = (cause: SealingStop['cause'], what: string): void => void stops.push({ cause, what });
  const { faults, late, contradictions } = store;
  if (faults > 0) add('fault', `${counted(faults, 'event')} in table fault: no interval is sealed from there on`);
  if (late > 0) add('late', `${counted(late, 'event')} in table late: nothing more of their migration is sealed`);
  for (const each of contradictions) add('contradiction', `${each}: nothing more of this migration is sealed`);
  return stops;
}

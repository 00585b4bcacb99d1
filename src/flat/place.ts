import { BadUpdate } from '../ledger/bad-update.ts';
import { FLAT_MIGRATION_MAX, type Micros } from '../ledger/time.ts';

/** A migration's clock begins so long after the one before, so that all migrations are in one order. A century. */
const MIGRATION_MS = 3_155_760_000_000;

/** Where an event belongs: the same for all events of an update. */
export interface Place {
  /** The migration. */
  readonly m: number;
  /** The record time in microseconds since 1970; null for an import. */
  readonly t: Micros | null;
  /**
   * The time in milliseconds, of one order over all migrations: that of the last microsecond before the record time, so that a
   * window [start, end) of a stream engine has what belongs to the snapshot at its end.
   */
  readonly clk: number;
  /** The number of the interval since 1970, which ends with the snapshot at `seq` periods; 0 for imports. */
  readonly seq: number;
}

/** `t`: null for an import. Throws BadUpdate for a migration that the clock has no room for. */
export function placeAt(m: number, t: Micros | null, periodUs: number): Place {
  if (m > FLAT_MIGRATION_MAX)
    throw new BadUpdate(
      'bad_field',
      'migration_id',
      m,
      `at most ${FLAT_MIGRATION_MAX}, which flat events have room for`,
    );
  const start = m * MIGRATION_MS;
  if (t === null) return { m, t, clk: start, seq: 0 };
  return { m, t, clk: start + Math.floor((t - 1) / 1000), seq: Math.ceil(t / periodUs) };
}

/** Back from the clock: the migration, and the milliseconds since 1970. */
export function clockPlace(clk: number): { readonly m: number; readonly ms: number } {
  return { m: Math.floor(clk / MIGRATION_MS), ms: clk % MIGRATION_MS };
}

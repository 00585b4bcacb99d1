import type { Micros } from '../../ledger/time.ts';
import type { SealedMigration } from './facts.ts';

/** Times from `from` to `to`, `step` apart, all of them multiples of it. */
export interface Grid {
  readonly from: Micros;
  readonly to: Micros;
  readonly step: number;
}

/**
 * The snapshots of a migration that the feed's time has sealed. They follow each other without a gap (docs/rules.md,
 * rule 3), so their times are known from the first and the last; forced ones may be before, between and after them.
 */
export function gridOf({ oldest, newest, periodUs }: SealedMigration): Grid {
  return multiplesWithin({ from: oldest.recordTime, to: newest.recordTime }, periodUs);
}

/** The multiples of `step` in a range; `from` is after `to` where there are none. */
export function multiplesWithin({ from, to }: { readonly from: Micros; readonly to: Micros }, step: number): Grid {
  return { from: Math.ceil(from / step) * step, to: Math.floor(to / step) * step, step };
}

export function countOf({ from, to, step }: Grid): number {
  return Math.max(0, (to - from) / step + 1);
}

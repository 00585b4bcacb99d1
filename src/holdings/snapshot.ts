import type { Micros } from '../ledger/time.ts';

/** A sealed snapshot, with the supply. Amounts in 1e-10 units. */
export interface Snapshot {
  readonly migrationId: number;
  readonly recordTime: Micros;
  /** Whether somebody asked for it, where the feed's time would not have sealed one. */
  readonly forced: boolean;
  readonly contracts: number;
  readonly owners: number;
  readonly unlocked: bigint;
  readonly locked: bigint;
}

import type { Micros } from '../ledger/time.ts';
import type { OfInstrument } from './instrument.ts';
import type { Amounts } from './movement-facts.ts';

/** The kinds of fact that balances and locks are answered from. */
export interface BalanceFactKinds {
  balance: { lookup: BalanceLookup; facts: BalanceFacts };
  /** Of all owners at the first time, then at the next. */
  balances: { lookup: BalancesLookup; facts: readonly Amounts[] };
  locks: { lookup: LocksLookup; facts: LocksFacts };
}

export interface BalanceLookup extends OfInstrument {
  /** One with an update. */
  readonly migrationId: number;
  readonly party: string;
  /** A counted time from which on movements are kept, or of a snapshot; null: the time reached. */
  readonly at: Micros | null;
}

export interface BalanceFacts extends Amounts {
  readonly at: Micros;
  /** The counted time reached. */
  readonly appliedTo: Micros;
  /** Null between snapshots. */
  readonly contracts: number | null;
  /** The time of the newest snapshot up to then; null before the first. */
  readonly snapshot: Micros | null;
  /** Null where not all of them are kept. */
  readonly movementsSinceSnapshot: number | null;
}

export interface BalancesLookup extends Pick<BalanceLookup, 'migrationId'>, OfInstrument {
  readonly at: readonly Micros[];
  readonly owners: readonly string[];
  /** The number of the last update that counts. */
  readonly untilNo: number;
}

/** A locked coin that is active at a snapshot. */
export interface Lock {
  readonly contractId: string;
  /** In 1e-10 units. */
  readonly amount: bigint;
  /** In microseconds since 1970, of the years 1-9999; null where the lock has no such end. */
  readonly expiresAt: bigint | null;
  readonly holders: readonly string[];
  readonly context: string | null;
  readonly createdAt: Micros;
}

/** What locks are ordered by: when they expire, those that never do last; then the contract id (UTF-8 bytes). */
export type LockPlace = Pick<Lock, 'contractId' | 'expiresAt'>;

export interface LocksLookup extends OfInstrument {
  readonly migrationId: number;
  /** Of a snapshot. */
  readonly recordTime: Micros;
  readonly party: string;
  /** The lock after which the page begins; null: the first page. */
  readonly after: LockPlace | null;
  readonly rows: number;
}

export interface LocksFacts {
  /** In their order. */
  readonly locks: readonly Lock[];
  /** Amounts of all the owner's locks that expire within so many days after the snapshot. */
  readonly unlocking: Unlocking;
}

export const UNLOCKING_DAYS = [1, 7, 30] as const;

/** In 1e-10 units; each contains the one before. */
export type Unlocking = Readonly<Record<(typeof UNLOCKING_DAYS)[number], bigint>>;

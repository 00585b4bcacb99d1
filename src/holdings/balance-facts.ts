import type { Micros } from '../ledger/time.ts';

/** The kinds of fact that balances and locks are answered from. */
export interface BalanceFactKinds {
  locks: { lookup: LocksLookup; facts: LocksFacts };
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

export interface LocksLookup {
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

import type { Database } from 'better-sqlite3';
import { formatTime, LEDGER_TIME_MAX } from '../../ledger/time.ts';

/** Something in views.db that contradicts the contracts or another table. */
export interface Difference {
  readonly table: string;
  /** The party; null where it concerns no owner. */
  readonly owner: string | null;
  /** Which snapshot, or the open interval; null where it concerns none. */
  readonly snapshot: string | null;
  /** What must be there; includes the row where owner and snapshot do not identify it. */
  readonly expected: string;
  readonly found: string;
}

/** How far the verification has come. */
export interface VerifyStep {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

type SnapshotIntegers = 'migrationId' | 'recordTime' | 'seq' | 'epoch' | 'updateNo' | 'forced' | 'contracts' | 'owners';

export interface SnapshotRow extends Readonly<Record<SnapshotIntegers, bigint>> {
  readonly unlocked: string;
  readonly locked: string;
  readonly changesDigest: Buffer | null;
  readonly digest: Buffer | null;
  readonly tokensChangesDigest: Buffer | null;
  readonly tokensDigest: Buffer | null;
  /** The place of the snapshot that shows its interval among those on the grid of all migrations; absent where none is sealed. */
  place?: number;
}

/** Contracts, owners, unlocked and locked coin or tokens of an instrument, or how they change. */
export type Supply = readonly bigint[];

export const NO_SUPPLY: Supply = [0n, 0n, 0n, 0n];

/** Adds to the supply, or its change, of an interval. */
export function addSupply(supplies: Map<bigint, Supply>, seq: bigint, change: Supply): void {
  supplies.set(seq, sumOf(supplies.get(seq) ?? NO_SUPPLY, change));
}

export function sumOf(a: Supply, b: Supply): Supply {
  return a.map((each, i) => each + b[i]!);
}

export interface VerifyContext {
  /** All that is read is of one moment. Its integers are read as bigints: a damaged file may have any. */
  readonly db: Database;
  readonly report: (difference: Difference) => void;
  /** The sealed snapshots of each migration: that of interval `seq` is number `seq - 1`. */
  readonly sealed: Map<bigint, SnapshotRow[]>;
  /** How the owners' contracts change an instrument's supply, by interval. */
  readonly supply: Map<bigint, Map<bigint, Supply>>;
}

/** Reports what differs in a table, and perhaps of one owner or snapshot. */
export function differsIn(
  { report }: VerifyContext,
  table: string,
  { owner = null, snapshot = null }: Partial<Pick<Difference, 'owner' | 'snapshot'>> = {},
): (expected: string, found: unknown) => void {
  return (expected, found) => report({ table, owner, snapshot, expected, found: String(found) });
}

export function snapshotName({ sealed }: VerifyContext, migrationId: bigint, seq: bigint): string {
  const row = sealed.get(migrationId)?.[Number(seq) - 1];
  return `migration ${migrationId}, ${row === undefined ? `interval ${seq}, not sealed yet` : timeText(row.recordTime)}`;
}

export function isLedgerTime(time: bigint): boolean {
  return time >= 0n && time < BigInt(LEDGER_TIME_MAX);
}

/** A damaged time may be no time at all. */
export function timeText(time: bigint): string {
  return isLedgerTime(time) ? formatTime(time) : `time ${time}`;
}

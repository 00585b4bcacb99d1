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

export interface SnapshotRow {
  readonly migrationId: bigint;
  readonly recordTime: bigint;
  readonly seq: bigint;
  readonly epoch: bigint;
  readonly updateNo: bigint;
  readonly forced: bigint;
  readonly contracts: bigint;
  readonly owners: bigint;
  readonly unlocked: string;
  readonly locked: string;
  readonly changes_digest: Buffer | null;
  readonly digest: Buffer | null;
}

/** Contracts, owners, unlocked and locked coin of a migration, or how they change. */
export type Supply = readonly bigint[];

export interface VerifyContext {
  /** All that is read is of one moment. Its integers are read as bigints: a damaged file may have any. */
  readonly db: Database;
  readonly report: (difference: Difference) => void;
  /** The sealed snapshots of each migration: that of interval `seq` is number `seq - 1`. */
  readonly sealed: Map<bigint, SnapshotRow[]>;
  /** For each interval up to the last snapshot on the grid, the place of the one that shows it among those of all migrations. */
  readonly places: Map<bigint, number[]>;
  /** How the owners' contracts change a migration's supply, by interval. */
  readonly supply: Map<bigint, Map<bigint, Supply>>;
}

/** Reports what differs in a table where it concerns no owner, and perhaps one snapshot. */
export function differsIn(
  { report }: Pick<VerifyContext, 'report'>,
  table: string,
  snapshot: string | null = null,
): (expected: string, found: unknown) => void {
  return (expected, found) => report({ table, owner: null, snapshot, expected, found: String(found) });
}

export function snapshotName({ sealed }: Pick<VerifyContext, 'sealed'>, migrationId: bigint, seq: bigint): string {
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

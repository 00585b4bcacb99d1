import type { Database } from 'better-sqlite3';
import type { DigestedCoin } from '../../ledger/digest.ts';
import { formatTime, LEDGER_TIME_MAX } from '../../ledger/time.ts';
import type { Sums, SumTerms } from '../store/totals.ts';

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

/** One read transaction of the verification has ended; the next begins when the generator is resumed. */
export interface VerifyStep {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** The snapshots of a migration that were sealed when the verification began. These never change. */
export interface SealedMigration {
  readonly migrationId: bigint;
  /** The time of each by its number, in order. */
  readonly times: Map<bigint, bigint>;
  /** The numbers of those on the grid, in order. */
  readonly grid: bigint[];
  /** How many snapshots on the grid the migrations before it have. */
  readonly gridBefore: number;
}

export interface VerifyContext {
  /** Its integers are read as bigints: a damaged file may have any. */
  readonly db: Database;
  readonly report: (difference: Difference) => void;
  /** About how many rows one read transaction reads: an owner is never split. */
  readonly rowsPerStep: number;
  /** By migration id, in order. */
  readonly sealed: Map<bigint, SealedMigration>;
}

/** A coin as its row and its holding give it. */
export interface Contract {
  readonly coin: SumTerms & DigestedCoin;
  readonly contractId: string;
  readonly createdSeq: bigint;
  /** Null while it is active. */
  readonly archivedSeq: bigint | null;
}

/** The sums that the contracts give at the end of an interval. */
export interface Reached {
  readonly seq: bigint;
  readonly unlocked: Sums;
  readonly locked: Sums;
}

/** Reports what differs in a table where it concerns no owner, and perhaps one snapshot. */
export function differsIn(
  { report }: Pick<VerifyContext, 'report'>,
  table: string,
  snapshot: string | null = null,
): (expected: string, found: unknown) => void {
  return (expected, found) => report({ table, owner: null, snapshot, expected, found: String(found) });
}

/** Runs one step in a read transaction of its own, so that all it reads is of one moment. */
export function inOneMoment<T>(db: Database, step: () => T): T {
  return db.transaction(step).deferred();
}

export function snapshotName({ sealed }: Pick<VerifyContext, 'sealed'>, migrationId: bigint, seq: bigint): string {
  const time = sealed.get(migrationId)?.times.get(seq);
  return `migration ${migrationId}, ${time === undefined ? `interval ${seq}, not sealed yet` : timeText(time)}`;
}

export function isLedgerTime(time: bigint): boolean {
  return time >= 0n && time < BigInt(LEDGER_TIME_MAX);
}

/** A damaged time may be no time at all. */
export function timeText(time: bigint): string {
  return isLedgerTime(time) ? formatTime(time) : `time ${time}`;
}

import type { Database } from 'better-sqlite3';
import { ExpiredSums } from '../../holdings/fees.ts';
import { unitsOf } from '../store/columns.ts';
import type { RowBudget } from './budget.ts';

interface ExpiredRow {
  readonly locked: bigint;
  readonly amount: bigint | Buffer;
  readonly rate: bigint | Buffer;
  readonly round: bigint;
}

interface EntryRow {
  readonly no: bigint;
  readonly createdSeq: bigint;
  readonly expiry: bigint | null;
}

interface Expired {
  readonly unlocked: ExpiredSums;
  readonly locked: ExpiredSums;
}

/**
 * Reads the sums of an owner's coins at a snapshot that have expired as of a round, and takes the rows read from the budget.
 * Null where it is exceeded.
 */
export type ReadExpired = (seq: number, owner: number, round: bigint, budget: RowBudget) => Expired | null;

export function createExpiredReader(db: Database): ReadExpired {
  const held = db
    .prepare<[number, bigint, number], number>(
      'SELECT no FROM held WHERE owner = ? AND expiry <= ? AND created_seq <= ?',
    )
    .pluck();
  const spent = db
    .prepare<[number, number, number, bigint], number>(
      'SELECT no FROM spent WHERE owner = ? AND archived_seq > ? AND created_seq <= ? AND expiry <= ?',
    )
    .pluck();
  // The limit must bound the rows read, not only those found, so the other conditions are checked outside.
  const someHeld = db
    .prepare<[number, bigint, number], EntryRow>(
      'SELECT no, created_seq AS createdSeq, expiry FROM held WHERE owner = ? AND expiry <= ? LIMIT ?',
    )
    .safeIntegers();
  const someSpent = db
    .prepare<[number, number, number], EntryRow>(
      'SELECT no, created_seq AS createdSeq, expiry FROM spent WHERE owner = ? AND archived_seq > ? LIMIT ?',
    )
    .safeIntegers();
  const holding = db
    .prepare<[number], ExpiredRow>('SELECT locked, amount, rate, round FROM holding WHERE no = ?')
    .safeIntegers();

  function boundedNos(seq: number, owner: number, round: bigint, budget: RowBudget): number[] | null {
    const rows = someHeld.all(owner, round, budget.rows + 1);
    if (rows.length <= budget.rows) rows.push(...someSpent.all(owner, seq, budget.rows - rows.length + 1));
    if (rows.length > budget.rows) return null;
    budget.rows -= rows.length;
    const isExpired = ({ createdSeq, expiry }: EntryRow): boolean =>
      createdSeq <= BigInt(seq) && expiry !== null && expiry <= round;
    return rows.filter(isExpired).map(({ no }) => Number(no));
  }

  function sumsOf(nos: readonly number[]): Expired {
    const sums = { unlocked: new ExpiredSums(), locked: new ExpiredSums() };
    for (const no of nos) {
      const row = holding.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      const side = row.locked === 1n ? sums.locked : sums.unlocked;
      side.add({ amount: unitsOf(row.amount), rate: unitsOf(row.rate), round: row.round });
    }
    return sums;
  }

  return (seq, owner, round, budget) => {
    const nos =
      budget.rows === Infinity
        ? [...held.all(owner, round, seq), ...spent.all(owner, seq, seq, round)]
        : boundedNos(seq, owner, round, budget);
    return nos === null ? null : sumsOf(nos);
  };
}

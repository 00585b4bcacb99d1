import type { Database } from 'better-sqlite3';
import { unitsOf } from '../store/columns.ts';
import type { Sums } from '../store/totals.ts';
import type { Snapshot, UnlockedLocked } from './types.ts';

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

/** What an owner's expired coins change in the sum of fees. */
interface Expired {
  amount: bigint;
  rate: bigint;
  rateRound: bigint;
}

/** Whether a coin of these sums may have expired as of a round, so that the coins have to be read. */
function mayHaveExpired({ unlocked, locked }: { unlocked: Sums; locked: Sums }, round: bigint): boolean {
  return round >= unlocked.expiryBound || round >= locked.expiryBound;
}

/** How many rows may still be read; what would take more is not read. */
export interface RowBudget {
  rows: number;
}

export type OwnerSums = { readonly owner: number; readonly unlocked: Sums; readonly locked: Sums };

export interface FeeReader {
  /** The fees of an owner's coins at a snapshot, as of a round. */
  fees(snapshot: Snapshot, sums: OwnerSums, round: bigint): UnlockedLocked;
  /** The same where that takes no more rows than the budget has left; else null. */
  boundedFees(snapshot: Snapshot, sums: OwnerSums, round: bigint, budget: RowBudget): UnlockedLocked | null;
}

/** Fees by design.md section 5: until a coin may have expired the owner's sums are enough; then exactly the expired ones are read. */
export function createFeeReader(db: Database): FeeReader {
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
  // For a bound on what is read, and not only on what is found, the other conditions wait.
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

  function expiredNos({ seq }: Snapshot, owner: number, round: bigint): number[] {
    return [...held.all(owner, round, seq), ...spent.all(owner, seq, seq, round)];
  }

  function boundedNos({ seq }: Snapshot, owner: number, round: bigint, budget: RowBudget): number[] | null {
    const rows = someHeld.all(owner, round, budget.rows + 1);
    if (rows.length <= budget.rows) rows.push(...someSpent.all(owner, seq, budget.rows - rows.length + 1));
    if (rows.length > budget.rows) return null;
    budget.rows -= rows.length;
    const isExpired = ({ createdSeq, expiry }: EntryRow): boolean =>
      createdSeq <= BigInt(seq) && expiry !== null && expiry <= round;
    return rows.filter(isExpired).map(({ no }) => Number(no));
  }

  function feesWith({ unlocked, locked }: OwnerSums, nos: readonly number[], round: bigint): UnlockedLocked {
    const expired = { unlocked: nothing(), locked: nothing() };
    for (const no of nos) {
      const row = holding.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      const side = row.locked === 1n ? expired.locked : expired.unlocked;
      const rate = unitsOf(row.rate);
      side.amount += unitsOf(row.amount);
      side.rate += rate;
      side.rateRound += rate * row.round;
    }
    return { unlocked: fee(unlocked, expired.unlocked, round), locked: fee(locked, expired.locked, round) };
  }

  return {
    fees(snapshot, sums, round) {
      return feesWith(sums, mayHaveExpired(sums, round) ? expiredNos(snapshot, sums.owner, round) : [], round);
    },
    boundedFees(snapshot, sums, round, budget) {
      const nos = mayHaveExpired(sums, round) ? boundedNos(snapshot, sums.owner, round, budget) : [];
      return nos === null ? null : feesWith(sums, nos, round);
    },
  };
}

function nothing(): Expired {
  return { amount: 0n, rate: 0n, rateRound: 0n };
}

function fee(sums: Sums, expired: Expired, round: bigint): bigint {
  return round * (sums.rate - expired.rate) - (sums.rateRound - expired.rateRound) + expired.amount;
}

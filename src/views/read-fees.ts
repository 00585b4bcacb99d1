import type { Database } from 'better-sqlite3';
import { unitsOf } from './columns.ts';
import type { Snapshot, UnlockedLocked } from './read-types.ts';
import type { Sums } from './totals.ts';

interface ExpiredRow {
  readonly locked: bigint;
  readonly amount: bigint | Buffer;
  readonly rate: bigint | Buffer;
  readonly round: bigint;
}

/** What an owner's expired coins change in the sum of fees. */
interface Expired {
  amount: bigint;
  rate: bigint;
  rateRound: bigint;
}

/** Whether a coin of these sums may have expired as of a round, so that the coins have to be read. */
export function mayHaveExpired({ unlocked, locked }: { unlocked: Sums; locked: Sums }, round: bigint): boolean {
  return round >= unlocked.expiryBound || round >= locked.expiryBound;
}

export type OwnerSums = { readonly owner: number; readonly unlocked: Sums; readonly locked: Sums };

/**
 * Returns the function that sums an owner's fees at a snapshot, as of a round (design.md section 5). Until a coin may have expired
 * the owner's sums are enough; then exactly the expired ones are read.
 */
export function createFeeReader(db: Database): (snapshot: Snapshot, sums: OwnerSums, round: bigint) => UnlockedLocked {
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
  const holding = db
    .prepare<[number], ExpiredRow>('SELECT locked, amount, rate, round FROM holding WHERE no = ?')
    .safeIntegers();

  function expiredCoins(snapshot: Snapshot, owner: number, round: bigint): { unlocked: Expired; locked: Expired } {
    const expired = { unlocked: nothing(), locked: nothing() };
    const add = (no: number): void => {
      const row = holding.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      const side = row.locked === 1n ? expired.locked : expired.unlocked;
      const rate = unitsOf(row.rate);
      side.amount += unitsOf(row.amount);
      side.rate += rate;
      side.rateRound += rate * row.round;
    };
    for (const no of held.all(owner, round, snapshot.seq)) add(no);
    for (const no of spent.all(owner, snapshot.seq, snapshot.seq, round)) add(no);
    return expired;
  }

  return (snapshot, { owner, unlocked, locked }, round) => {
    const expired = mayHaveExpired({ unlocked, locked }, round)
      ? expiredCoins(snapshot, owner, round)
      : { unlocked: nothing(), locked: nothing() };
    return { unlocked: fee(unlocked, expired.unlocked, round), locked: fee(locked, expired.locked, round) };
  };
}

function nothing(): Expired {
  return { amount: 0n, rate: 0n, rateRound: 0n };
}

function fee(sums: Sums, expired: Expired, round: bigint): bigint {
  return round * (sums.rate - expired.rate) - (sums.rateRound - expired.rateRound) + expired.amount;
}

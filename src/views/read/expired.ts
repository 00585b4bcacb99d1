import type { Database } from 'better-sqlite3';
import type { OwnerFacts } from '../../holdings/facts.ts';
import { ExpiredSums } from '../../holdings/fees.ts';
import { unitsOf } from '../store/columns.ts';
import { NOT_BOUNDED, type RowBudget } from './budget.ts';

/** An owner at a snapshot, and the round as of which its coins may have expired. */
interface Place {
  readonly owner: number;
  readonly seq: number;
  readonly round: bigint;
}

interface ExpiredRow {
  readonly locked: bigint;
  readonly amount: bigint | Buffer;
  readonly rate: bigint | Buffer;
  readonly round: bigint;
}

type Expired = NonNullable<OwnerFacts['expired']>;

/** Reads the sums of the coins that have expired, and takes the rows read from the budget. Throws NOT_BOUNDED. */
export function createExpiredReader(db: Database): (place: Place, budget: RowBudget) => Expired {
  // By the keys of their indexes, so these are the rows read, whether their coins have expired or not.
  const count = db
    .prepare<[Place & { readonly most: number }], number>(
      `SELECT count(*) FROM (
         SELECT 1 FROM held WHERE owner = @owner AND expiry <= @round
         UNION ALL SELECT 1 FROM spent WHERE owner = @owner AND archived_seq > @seq LIMIT @most)`,
    )
    .pluck();
  const expired = db
    .prepare<[Place], number>(
      `SELECT no FROM held WHERE owner = @owner AND expiry <= @round AND created_seq <= @seq
       UNION ALL SELECT no FROM spent
       WHERE owner = @owner AND archived_seq > @seq AND created_seq <= @seq AND expiry <= @round`,
    )
    .pluck();
  const holding = db
    .prepare<[number], ExpiredRow>('SELECT locked, amount, rate, round FROM holding WHERE no = ?')
    .safeIntegers();
  return (place, budget) => {
    if (budget.rows !== Infinity) {
      const rows = count.get({ ...place, most: budget.rows + 1 })!;
      if (rows > budget.rows) throw NOT_BOUNDED;
      budget.rows -= rows;
    }
    const sums = { unlocked: new ExpiredSums(), locked: new ExpiredSums() };
    for (const no of expired.all(place)) {
      const row = holding.get(no);
      if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
      const side = row.locked === 1n ? sums.locked : sums.unlocked;
      side.add({ amount: unitsOf(row.amount), rate: unitsOf(row.rate), round: row.round });
    }
    return sums;
  };
}

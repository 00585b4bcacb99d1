import type { Database } from 'better-sqlite3';
import type { ComparedCoin } from '../../ledger/coin.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { unitsOf } from '../store/columns.ts';

interface Row {
  locked: bigint;
  owner: string;
  amount: bigint | Buffer;
  rate: bigint | Buffer;
  round: bigint;
  createdAt: bigint;
  extra: string | null;
}

/** Returns the function that reads the content of a coin's create, by the coin's number. */
export function createCoinReader(db: Database): (no: number) => ComparedCoin {
  const read = db
    .prepare<[number], Row>(
      `SELECT locked, party AS owner, amount, rate, round, created_at AS createdAt, args AS extra
       FROM holding JOIN owner ON owner.id = holding.owner WHERE no = ?`,
    )
    .safeIntegers();
  return (no) => {
    const row = read.get(no);
    if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
    return {
      ...row,
      entity: coinEntity(row.locked === 1n),
      amount: unitsOf(row.amount),
      rate: unitsOf(row.rate),
      createdAt: Number(row.createdAt),
    };
  };
}

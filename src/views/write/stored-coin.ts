import type { Database } from 'better-sqlite3';
import type { Coin } from '../../ledger/update.ts';
import { unitsOf } from '../store/columns.ts';

interface Row {
  locked: bigint;
  owner: string;
  amount: bigint | Buffer;
  rate: bigint | Buffer;
  round: bigint;
  createdAt: bigint;
  node: bigint;
  templateId: string;
  packageName: string;
  extra: string | null;
}

/** Returns the function that reads all that was said of a coin contract, by its number. */
export function createCoinReader(db: Database): (no: number) => Coin {
  const read = db
    .prepare<[number], Row>(
      `SELECT locked, party AS owner, amount, rate, round, created_at AS createdAt, node, template_id AS templateId,
         package_name AS packageName, args AS extra
       FROM holding JOIN owner ON owner.id = holding.owner JOIN template ON template.id = holding.template WHERE no = ?`,
    )
    .safeIntegers();
  return (no) => {
    const row = read.get(no);
    if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
    return {
      ...row,
      entity: row.locked === 1n ? 'LockedAmulet' : 'Amulet',
      amount: unitsOf(row.amount),
      rate: unitsOf(row.rate),
      createdAt: Number(row.createdAt),
      node: Number(row.node),
    };
  };
}

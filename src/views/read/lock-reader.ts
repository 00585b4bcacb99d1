import type { Database } from 'better-sqlite3';
import type { Lock, LocksFacts, LocksLookup } from '../../holdings/balance-facts.ts';
import { createLockFold } from '../../holdings/lock-answers.ts';
import { isObject } from '../../json/untrusted.ts';
import { coinContent } from '../../ledger/coin.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import { parseRequestTime } from '../../ledger/time.ts';
import { epochsUp } from '../store/account-epochs.ts';
import { type CoinRow, coinTerms, unitsOf } from '../store/stored-rows.ts';
import type { AccountReader, VersionReader } from './owner-versions.ts';
import { type RowBudget, requireUnbounded, type StoredSnapshot } from './stored-snapshots.ts';

interface LockedRow extends Omit<CoinRow, 'owner'> {
  readonly createdAt: bigint;
  readonly contractId: StoredId;
}

const COLUMNS = 'locked, amount, rate, round, args AS extra, h.created_at AS createdAt, contract_id AS contractId';

/** Reads the locked coins of an owner at a snapshot. Its totals say how many there are, so the search ends with the last one. */
export function createLockReader(
  db: Database,
  { accounts, versions }: { accounts: AccountReader; versions: VersionReader },
) {
  const held = db
    .prepare<[number, number, number], LockedRow>(
      `SELECT ${COLUMNS} FROM held x CROSS JOIN holding h USING (no)
       WHERE x.epoch = ? + 0 AND x.account = ? + 0 AND x.created_seq <= ? + 0 AND locked = 1
         AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = x.no)`,
    )
    .safeIntegers();
  const spent = db
    .prepare<[number, number, number, number], LockedRow>(
      `SELECT ${COLUMNS} FROM spent x CROSS JOIN holding h USING (no)
       WHERE x.epoch = ? + 0 AND x.account = ? + 0 AND archived_seq > ? + 0 AND x.created_seq <= ? + 0 AND locked = 1`,
    )
    .safeIntegers();
  const dsoOf = db.prepare<[], string | null>('SELECT dso FROM setting').pluck();

  return (snapshot: StoredSnapshot, lookup: LocksLookup, budget: RowBudget): LocksFacts => {
    const { seq, epoch: last } = snapshot;
    const { party, instrument } = lookup;
    if (instrument !== undefined) requireUnbounded(budget);
    const own = accounts.ofParty(lookup, party);
    const { count } = versions.sumsAt(own, snapshot).locked;
    const fold = createLockFold(lookup);
    if (count === 0) return fold.end();
    requireUnbounded(budget);
    const dso = dsoOf.get() ?? '';
    function* rows(): Generator<LockedRow> {
      for (const { no, epochs } of own) {
        for (const epoch of epochsUp(epochs, 0, last)) yield* held.iterate(epoch, no, seq);
        for (const epoch of epochsUp(epochs, last)) yield* spent.iterate(epoch, no, seq, seq);
      }
    }
    let found = 0;
    for (const row of rows()) {
      fold.add(instrument === undefined ? lockOf({ ...row, owner: party }, dso) : tokenLockOf(row));
      if (++found === count) return fold.end();
    }
    throw new Error(`${party} has ${found} of ${count} locked contracts in snapshot ${seq}`);
  };
}

/** A token's row has the end of its lock as microseconds since 1970. */
function tokenLockOf({ contractId, amount, extra, createdAt }: LockedRow): Lock {
  return {
    contractId: idText(contractId),
    amount: unitsOf(amount),
    expiresAt: extra === null ? null : BigInt(extra),
    holders: [],
    context: null,
    createdAt: Number(createdAt),
  };
}

/** Of what the arguments say; what is not as in the template is left out. */
function lockOf(row: LockedRow & Pick<CoinRow, 'owner'>, dso: string): Lock {
  const { lock } = coinContent(coinTerms(row), dso).createArguments;
  const { holders, expiresAt, optContext } = isObject(lock) ? lock : {};
  return {
    contractId: idText(row.contractId),
    amount: coinTerms(row).amount,
    expiresAt: typeof expiresAt === 'string' ? parseRequestTime(expiresAt) : null,
    holders: Array.isArray(holders) ? holders.filter((each) => typeof each === 'string') : [],
    context: typeof optContext === 'string' ? optContext : null,
    createdAt: Number(row.createdAt),
  };
}

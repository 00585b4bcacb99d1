import type { Database } from 'better-sqlite3';
import type { Lock, LocksFacts, LocksLookup } from '../../holdings/balance-facts.ts';
import { createLockFold } from '../../holdings/lock-answers.ts';
import { isObject } from '../../json/untrusted.ts';
import { coinContent } from '../../ledger/coin.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import { parseRequestTime } from '../../ledger/time.ts';
import { epochsUp } from '../store/account-epochs.ts';
import { type CoinRow, coinTerms } from '../store/stored-rows.ts';
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
    const { migrationId, seq, epoch: last } = snapshot;
    const { party } = lookup;
    const account = accounts.ofParty(migrationId, party);
    const count = account === undefined ? 0 : versions.sumsAt(account, snapshot).locked.count;
    const fold = createLockFold(lookup);
    if (account === undefined || count === 0) return fold.end();
    requireUnbounded(budget);
    const dso = dsoOf.get() ?? '';
    function* rows({ no, epochs }: NonNullable<typeof account>): Generator<LockedRow> {
      for (const epoch of epochsUp(epochs, 0, last)) yield* held.iterate(epoch, no, seq);
      for (const epoch of epochsUp(epochs, last)) yield* spent.iterate(epoch, no, seq, seq);
    }
    let found = 0;
    for (const row of rows(account)) {
      fold.add(lockOf({ ...row, owner: party }, dso));
      if (++found === count) return fold.end();
    }
    throw new Error(`account ${account.no} has ${found} of ${count} locked coins in snapshot ${seq}`);
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

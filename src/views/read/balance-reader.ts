import type { Database } from 'better-sqlite3';
import type { BalanceFacts, BalanceLookup, BalancesLookup } from '../../holdings/balance-facts.ts';
import type { Amounts } from '../../holdings/movement-facts.ts';
import { epochsUp } from '../store/account-epochs.ts';
import type { createMovementReader, Moment } from './movement-reader.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';
import { NOT_BOUNDED, type RowBudget, requireUnbounded } from './stored-snapshots.ts';

type SnapshotEnd = Readonly<Record<'recordTime' | 'epoch' | 'updateNo', number>>;

const NOTHING: Amounts = { unlocked: 0n, locked: 0n };
/** Of the interval that is open. */
const OPEN = { seq: Number.MAX_SAFE_INTEGER, epoch: Number.MAX_SAFE_INTEGER };

/** Reads balances at any time. `? + 0`: see views/store/database.ts. */
export function createBalanceReader(
  db: Database,
  {
    accounts,
    versions,
    movements,
  }: { accounts: AccountReader; versions: VersionReader; movements: ReturnType<typeof createMovementReader> },
) {
  const newestAt = db.prepare<[number, number], SnapshotEnd>(
    `SELECT record_time AS recordTime, epoch, update_no AS updateNo FROM snapshot
     WHERE migration_id = ? + 0 AND record_time <= ? + 0 ORDER BY record_time DESC LIMIT 1`,
  );
  const countIn = db
    .prepare<[number, number, number, number, number], number>(
      `SELECT count(*) FROM (SELECT 1 FROM movement
       WHERE epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0 LIMIT ? + 0)`,
    )
    .pluck();

  /** The movements after a snapshot, up to a moment. Takes each from the budget, and an epoch like one. Throws NOT_BOUNDED. */
  function countSince(account: Account, from: SnapshotEnd | null, { no, interval }: Moment, budget: RowBudget): number {
    let count = 0;
    for (const epoch of epochsUp(account.epochs, from?.epoch ?? 0, interval.epoch)) {
      const most = Math.min(budget.rows, Number.MAX_SAFE_INTEGER);
      const found = countIn.get(epoch, account.no, from?.updateNo ?? 0, no, most)!;
      budget.rows -= found + 1;
      if (budget.rows < 0) throw NOT_BOUNDED;
      count += found;
    }
    return count;
  }

  return {
    /** At a time that was asked for, or now, as of one moment. */
    balance({ migrationId, party, at: asked }: BalanceLookup, budget: RowBudget): BalanceFacts {
      const history = movements.history(BigInt(migrationId));
      if (history === null) throw new Error(`migration ${migrationId} has no update`);
      const { appliedTo, lastUpdateNo, movementsSince } = history;
      const at = asked ?? appliedTo;
      const snapshot = newestAt.get(migrationId, at) ?? null;
      const isSnapshot = snapshot?.recordTime === at;
      if (asked !== null && !isSnapshot) requireUnbounded(budget);
      const now = { no: lastUpdateNo, interval: { ...OPEN, endNo: lastUpdateNo }, firstEpoch: 0 };
      const moment = asked === null ? now : movements.momentAt(migrationId, at);
      const account = accounts.ofParty(migrationId, party);
      const totals = account && versions.at(account, moment.interval)?.totals;
      const isKept = movementsSince === null || (snapshot !== null && snapshot.recordTime >= movementsSince - 1);
      const count =
        account === undefined || isSnapshot ? 0 : isKept ? countSince(account, snapshot, moment, budget) : null;
      return {
        ...(account === undefined ? NOTHING : movements.balanceAt(account, moment)),
        at,
        appliedTo,
        contracts: asked === null || isSnapshot ? (totals?.contracts ?? 0) : null,
        snapshot: snapshot?.recordTime ?? null,
        movementsSinceSnapshot: count,
      };
    },

    balances({ migrationId, at, owners, untilNo }: BalancesLookup): readonly Amounts[] {
      const found = owners.map((party) => accounts.ofParty(migrationId, party));
      return at.flatMap((time) => {
        const moment = movements.momentAt(migrationId, time);
        const until = { ...moment, no: Math.min(moment.no, untilNo) };
        return found.map((account) => (account === undefined ? NOTHING : movements.balanceAt(account, until)));
      });
    },
  };
}

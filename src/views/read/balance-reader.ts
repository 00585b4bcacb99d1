import type { Database } from 'better-sqlite3';
import type { BalanceFacts, BalanceLookup, BalancesLookup } from '../../holdings/balance-facts.ts';
import type { Amounts } from '../../holdings/movement-facts.ts';
import { epochsUp } from '../store/account-epochs.ts';
import type { createMovementReader, Moment } from './movement-reader.ts';
import type { Account, AccountReader, VersionReader } from './owner-versions.ts';
import { NOT_BOUNDED, type RowBudget, requireUnbounded } from './stored-snapshots.ts';

const NOTHING: Amounts = { unlocked: 0n, locked: 0n };

/** Reads balances at any time. `? + 0`: see views/store/database.ts. */
export function createBalanceReader(
  db: Database,
  {
    accounts,
    versions,
    movements,
  }: { accounts: AccountReader; versions: VersionReader; movements: ReturnType<typeof createMovementReader> },
) {
  const countIn = db
    .prepare<[number, number, number, number, number], number>(
      `SELECT count(*) FROM (SELECT 1 FROM movement
       WHERE epoch = ? + 0 AND account = ? + 0 AND update_no > ? + 0 AND update_no <= ? + 0 LIMIT ? + 0)`,
    )
    .pluck();

  /** The movements of an interval up to a moment. Takes each from the budget, and an epoch like one. Throws NOT_BOUNDED. */
  function countUntil({ no: account, epochs }: Account, { no, interval }: Moment, budget: RowBudget): number {
    let count = 0;
    for (const epoch of epochsUp(epochs, interval.firstEpoch, interval.epoch)) {
      const most = Math.min(budget.rows, Number.MAX_SAFE_INTEGER);
      const found = countIn.get(epoch, account, interval.startNo, no, most)!;
      budget.rows -= found + 1;
      if (budget.rows < 0) throw NOT_BOUNDED;
      count += found;
    }
    return count;
  }

  /** At moments of one interval, whose movements are read once: what its end has, less what came in between. */
  function balancesIn(account: Account, moments: readonly Moment[]): [Moment, Amounts][] {
    const latestFirst = moments.toSorted((a, b) => b.no - a.no);
    const [{ interval }, earliest] = [latestFirst[0]!, latestFirst.at(-1)!];
    let { unlocked, locked }: Amounts = versions.at(account, interval)?.totals ?? NOTHING;
    const found: [Moment, Amounts][] = [];
    const findFrom = (no: number): void => {
      for (let next = latestFirst[found.length]; next !== undefined && next.no >= no; next = latestFirst[found.length])
        found.push([next, { unlocked, locked }]);
    };
    const end = { no: interval.endNo, interval };
    for (const { updateNo, change } of movements.ownMovements(account, earliest, end, 'desc')) {
      findFrom(updateNo);
      unlocked -= change.unlocked;
      locked -= change.locked;
    }
    findFrom(0);
    return found;
  }

  return {
    /** At a time that was asked for, or now, as of one moment. */
    balance({ migrationId, party, at: asked }: BalanceLookup, budget: RowBudget): BalanceFacts {
      const history = movements.history(BigInt(migrationId));
      if (history === null) throw new Error(`migration ${migrationId} has no update`);
      const { appliedTo, movementsSince } = history;
      // What is after the time reached is in the open interval.
      const interval = movements.intervalAt(migrationId, asked ?? appliedTo + 1);
      const isSnapshot = interval.end === asked;
      if (asked !== null && !isSnapshot) requireUnbounded(budget);
      const moment = asked === null ? { no: interval.endNo, interval } : movements.momentAt(migrationId, asked);
      const account = accounts.ofParty(migrationId, party);
      const totals = account && versions.at(account, interval)?.totals;
      const isKept = movementsSince === null || interval.begin >= movementsSince - 1;
      const count = account === undefined || isSnapshot ? 0 : isKept ? countUntil(account, moment, budget) : null;
      return {
        ...(account === undefined ? NOTHING : movements.balanceAt(account, moment)),
        at: asked ?? appliedTo,
        appliedTo,
        contracts: asked === null || isSnapshot ? (totals?.contracts ?? 0) : null,
        snapshot: isSnapshot ? interval.end : interval.begin < 0 ? null : interval.begin,
        movementsSinceSnapshot: count,
      };
    },

    balances({ migrationId, at, owners, untilNo }: BalancesLookup): readonly Amounts[] {
      const moments = at.map((time): Moment => {
        const { no, interval } = movements.momentAt(migrationId, time);
        return { no: Math.min(no, untilNo), interval };
      });
      const intervals = [...Map.groupBy(moments, ({ interval }) => interval.seq).values()];
      const found = owners.map((party) => {
        const account = accounts.ofParty(migrationId, party);
        return new Map(account && intervals.flatMap((within) => balancesIn(account, within)));
      });
      return moments.flatMap((moment) => found.map((balances) => balances.get(moment) ?? NOTHING));
    },
  };
}

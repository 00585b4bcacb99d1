import type { BalanceFacts, BalanceLookup, BalancesLookup } from '../../holdings/balance-facts.ts';
import type { Amounts, Period, StatementLookup } from '../../holdings/movement-facts.ts';
import { statementOf } from '../../holdings/statement.ts';
import { type Moment, type MovementReader, NOTHING, sumOf, totalOf } from './movement-reader.ts';
import type { AccountReader, VersionReader } from './owner-versions.ts';
import { type RowBudget, requireUnbounded } from './stored-snapshots.ts';

/** Reads what owners have at any time, and had over time. */
export function createBalanceReader({
  accounts,
  versions,
  movements,
}: {
  accounts: AccountReader;
  versions: VersionReader;
  movements: MovementReader;
}) {
  const { momentAt, balancesOf, ownMovements } = movements;
  return {
    /** At a time that was asked for, or now, as of one moment. */
    balance({ migrationId, party, at: asked }: BalanceLookup, budget: RowBudget): BalanceFacts {
      const { appliedTo, movementsSince } = movements.history(BigInt(migrationId))!;
      // What is after the time reached is in the open interval.
      const interval = movements.intervalAt(migrationId, asked ?? appliedTo + 1);
      const isSnapshot = interval.end === asked;
      if (asked !== null && !isSnapshot) requireUnbounded(budget);
      const to = asked === null ? { no: interval.endNo, interval } : momentAt(migrationId, asked);
      const account = accounts.ofParty(migrationId, party);
      const contracts = (account && versions.at(account, interval)?.totals.contracts) ?? 0;
      const isKept = movementsSince === null || interval.begin >= movementsSince - 1;
      const since = { after: { no: interval.startNo, interval }, to, order: 'asc' } as const;
      const counted = account === undefined || isSnapshot ? [] : isKept ? ownMovements(account, since, budget) : null;
      return {
        ...(account === undefined ? NOTHING : balancesOf(account)(to)),
        at: asked ?? appliedTo,
        appliedTo,
        contracts: asked === null || isSnapshot ? contracts : null,
        snapshot: isSnapshot ? interval.end : interval.begin < 0 ? null : interval.begin,
        movementsSinceSnapshot: counted && [...counted].length,
      };
    },

    balances({ migrationId, at, owners, untilNo }: BalancesLookup): readonly Amounts[] {
      const moments = at.map((time): Moment => {
        const { no, interval } = momentAt(migrationId, time);
        return { no: Math.min(no, untilNo), interval };
      });
      const latestFirst = moments.toSorted((a, b) => b.interval.begin - a.interval.begin || b.no - a.no);
      const found = owners.map((party) => {
        const account = accounts.ofParty(migrationId, party);
        const balanceAt = account === undefined ? () => NOTHING : balancesOf(account);
        return new Map(latestFirst.map((moment) => [moment, balanceAt(moment)]));
      });
      return moments.flatMap((moment) => found.map((balances) => balances.get(moment)!));
    },

    /** One pass over the movements. */
    statement({ migrationId, party, from, ends, untilNo }: StatementLookup): readonly Period[] {
      const account = accounts.ofParty(migrationId, party);
      const [after, end] = [momentAt(migrationId, from), momentAt(migrationId, ends.at(-1)!)];
      const isSupplyKnown = !movements.isLimited();
      const opening = account === undefined ? 0n : totalOf(balancesOf(account)(after));
      const range = { after, to: { ...end, no: Math.min(end.no, untilNo) }, order: 'asc' } as const;
      const found = account === undefined ? [] : ownMovements(account, range);
      const booked = Iterator.from(found).map((movement) => {
        const isAsked = isSupplyKnown && totalOf(movement.change) !== 0n;
        return { ...movement, supplyChange: isAsked ? sumOf(movements.changesOf(movement)) : null };
      });
      return statementOf(booked, { opening, from, ends, isSupplyKnown });
    },
  };
}

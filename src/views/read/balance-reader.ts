import type { BalanceFacts, BalanceLookup, BalancesLookup } from '../../holdings/balance-facts.ts';
import type { Amounts, Period, StatementLookup } from '../../holdings/movement-facts.ts';
import { statementOf } from '../../holdings/statement.ts';
import type { Moment, MovementReader } from './movement-reader.ts';
import type { AccountReader, VersionReader } from './owner-versions.ts';
import { type RowBudget, requireUnbounded } from './stored-snapshots.ts';
import { sumOf, totalOf } from './update-effects.ts';

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
    balance(lookup: BalanceLookup, budget: RowBudget): BalanceFacts {
      const { migrationId, party, at: asked } = lookup;
      if (lookup.instrument !== undefined) requireUnbounded(budget);
      const { appliedTo, movementsSince } = movements.history(BigInt(migrationId))!;
      // What is after the time reached is in the open interval.
      const interval = movements.intervalAt(migrationId, asked ?? appliedTo + 1);
      const isSnapshot = interval.end === asked;
      if (asked !== null && !isSnapshot) requireUnbounded(budget);
      const to = asked === null ? { no: interval.endNo, interval } : momentAt(migrationId, asked);
      const own = accounts.ofParty(lookup, party);
      const { contracts } = versions.totalsAt(own, interval);
      const isKept = movementsSince === null || interval.begin >= movementsSince - 1;
      const since = { after: { no: interval.startNo, interval }, to, order: 'asc' } as const;
      const counted = isSnapshot ? [] : isKept ? ownMovements(own, since, budget) : null;
      return {
        ...balancesOf(own)(to),
        at: asked ?? appliedTo,
        appliedTo,
        contracts: asked === null || isSnapshot ? contracts : null,
        snapshot: isSnapshot ? interval.end : interval.begin < 0 ? null : interval.begin,
        movementsSinceSnapshot: counted && [...counted].length,
      };
    },

    balances({ at, owners, untilNo, ...of }: BalancesLookup): readonly Amounts[] {
      const moments = at.map((time): Moment => {
        const { no, interval } = momentAt(of.migrationId, time);
        return { no: Math.min(no, untilNo), interval };
      });
      const latestFirst = moments.toSorted((a, b) => b.interval.begin - a.interval.begin || b.no - a.no);
      const found = owners.map((party) => {
        const balanceAt = balancesOf(accounts.ofParty(of, party));
        return new Map(latestFirst.map((moment) => [moment, balanceAt(moment)]));
      });
      return moments.flatMap((moment) => found.map((balances) => balances.get(moment)!));
    },

    /** One pass over the movements. */
    statement({ party, from, ends, untilNo, ...of }: StatementLookup): readonly Period[] {
      const { migrationId } = of;
      const own = accounts.ofParty(of, party);
      const [after, end] = [momentAt(migrationId, from), momentAt(migrationId, ends.at(-1)!)];
      const isSupplyKnown = !movements.isLimited();
      const opening = totalOf(balancesOf(own)(after));
      const range = { after, to: { ...end, no: Math.min(end.no, untilNo) }, order: 'asc' } as const;
      const booked = ownMovements(own, range).map((movement) => {
        const isAsked = isSupplyKnown && totalOf(movement.change) !== 0n;
        return { ...movement, supplyChange: isAsked ? sumOf(movements.changesOf(movement, of)) : null };
      });
      return statementOf(booked, { opening, from, ends, isSupplyKnown });
    },
  };
}

import type { Change, ChangesFacts, ChangesLookup, OwnersChangesLookup, Totals } from '../holdings/insight/facts.ts';
import { multiplesWithin } from '../holdings/insight/grid.ts';
import { fromPostgresNumber } from './numbers.ts';
import type { Ask } from './pool.ts';

export const NO_COIN: Totals = { unlocked: 0n, locked: 0n, contracts: 0 };

/** An owner's totals as `TOTALS` reads them. */
export interface TotalsRow {
  readonly unlocked: string;
  readonly locked: string;
  readonly contracts: string;
}

export const TOTALS =
  'trunc(u_amount * 10000000000) AS unlocked, trunc(l_amount * 10000000000) AS locked, u_coins + l_coins AS contracts';

export function totalsOf({ unlocked, locked, contracts }: TotalsRow): Totals {
  return {
    unlocked: fromPostgresNumber(unlocked),
    locked: fromPostgresNumber(locked),
    contracts: Number(contracts),
  };
}

/** Changes of owners from snapshot to snapshot. What came before a migration's first snapshot counts as of that one. */
export function createChangesReader(ask: Ask, periodUs: number) {
  async function changesOf({
    migrationId,
    party,
    from,
    to,
  }: Pick<ChangesLookup, 'migrationId' | 'party' | 'from' | 'to'>): Promise<{ before: Totals; changes: Change[] }> {
    const rows = await ask<TotalsRow & { seq: string; first: string }>(
      `SELECT GREATEST(seq, first_seq) AS seq, first_seq AS first, ${TOTALS} FROM owner_total o JOIN sealed USING (migration_id)
       WHERE migration_id = $1 AND owner = $2 AND seq <= LEAST(last_seq, $4)
         AND seq >= COALESCE((SELECT max(seq) FROM owner_total b WHERE b.migration_id = $1 AND b.owner = $2 AND b.seq < $3), 0)
       ORDER BY o.seq`,
      [migrationId, party, from / periodUs, to / periodUs],
    );
    let [before, held] = [NO_COIN, NO_COIN];
    const changes = new Map<number, Change>();
    for (const row of rows) {
      const recordTime = Number(row.seq) * periodUs;
      const after = totalsOf(row);
      if (recordTime < from) before = after;
      else changes.set(recordTime, { recordTime, before: changes.get(recordTime)?.before ?? held, after });
      held = after;
    }
    return { before, changes: [...changes.values()].filter((change) => !areEqual(change.before, change.after)) };
  }

  return {
    async changes({ order, rows, ...lookup }: ChangesLookup): Promise<ChangesFacts> {
      const { before, changes } = await changesOf(lookup);
      const ordered = order === 'asc' ? changes : changes.reverse();
      return { before, changes: ordered.slice(0, rows) };
    },
    async ofOwners({ migrationId, owners, ...times }: OwnersChangesLookup): Promise<readonly (readonly Change[])[]> {
      const { from, to } = multiplesWithin(times, periodUs);
      if (from > to) return owners.map(() => []);
      return Promise.all(owners.map(async (party) => (await changesOf({ migrationId, party, from, to })).changes));
    },
  };
}

function areEqual(a: Totals, b: Totals): boolean {
  return a.unlocked === b.unlocked && a.locked === b.locked && a.contracts === b.contracts;
}

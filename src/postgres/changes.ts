import {
  type Change,
  type ChangesFacts,
  type ChangesLookup,
  NO_COIN,
  type OwnersChangesLookup,
  sameTotals,
  type Totals,
} from '../holdings/facts.ts';
import { multiplesWithin } from '../holdings/snapshot-grid.ts';
import type { Ask } from './pool.ts';

/** The columns of an owner's `Totals`. */
export const TOTALS =
  'trunc(u_amount * 10000000000) AS unlocked, trunc(l_amount * 10000000000) AS locked, u_coins + l_coins AS contracts';

interface Found {
  readonly before: Totals;
  readonly changes: Change[];
}

/** Changes of owners from snapshot to snapshot. What came before a migration's first snapshot counts as of that one. */
export function createChangesReader(ask: Ask, periodUs: number) {
  /** Of each owner; read in one statement. */
  async function changesOf({ migrationId, owners, from, to }: OwnersChangesLookup): Promise<Found[]> {
    const rows = await ask<Totals & { place: number; seq: number }>(
      `SELECT w.place, GREATEST(seq, first_seq) AS seq, ${TOTALS} FROM sealed
       CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS w(owner, place)
       CROSS JOIN LATERAL (SELECT * FROM owner_total o WHERE o.migration_id = $1 AND o.owner = w.owner AND seq <= LEAST(last_seq, $4)
         AND seq >= COALESCE((SELECT max(seq) FROM owner_total b WHERE b.migration_id = $1 AND b.owner = w.owner AND b.seq < $3), 0)) t
       WHERE sealed.migration_id = $1 ORDER BY w.place, t.seq`,
      [migrationId, owners, from / periodUs, to / periodUs],
    );
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return owners.map((_, i) => changesIn(byPlace.get(i + 1) ?? [], from));
  }

  function changesIn(rows: readonly (Totals & { seq: number })[], from: number): Found {
    let [before, held] = [NO_COIN, NO_COIN];
    const changes = new Map<number, Change>();
    for (const { seq, unlocked, locked, contracts } of rows) {
      const recordTime = seq * periodUs;
      const after = { unlocked, locked, contracts };
      if (recordTime < from) before = after;
      else changes.set(recordTime, { recordTime, before: changes.get(recordTime)?.before ?? held, after });
      held = after;
    }
    return { before, changes: [...changes.values()].filter((change) => !sameTotals(change.before, change.after)) };
  }

  return {
    async changes({ order, rows, party, ...lookup }: ChangesLookup): Promise<ChangesFacts> {
      const [found] = await changesOf({ ...lookup, owners: [party] });
      const { before, changes } = found!;
      const ordered = order === 'asc' ? changes : changes.reverse();
      return { before, changes: ordered.slice(0, rows) };
    },
    async ofOwners({ migrationId, owners, ...times }: OwnersChangesLookup): Promise<readonly (readonly Change[])[]> {
      const { from, to } = multiplesWithin(times, periodUs);
      if (from > to) return owners.map(() => []);
      return (await changesOf({ migrationId, owners, from, to })).map(({ changes }) => changes);
    },
  };
}

import type { CoinSums, Lookup, OwnerFacts, OwnerSums, OwnersFacts } from '../holdings/facts.ts';
import { mayHaveExpired, NO_COINS } from '../holdings/summary-answer.ts';
import type { Ask } from './pool.ts';
import type { SnapshotReader, StoredSnapshot } from './snapshots.ts';

interface TotalsRow {
  readonly party: string;
  readonly u: readonly string[] | null;
  readonly l: readonly string[] | null;
  readonly expires: number | bigint | null;
}

const UNITS = (column: string): string => `trunc(${column} * 10000000000)`;
const SUMS = (side: 'u' | 'l'): string =>
  `CASE WHEN ${side}_coins IS NOT NULL THEN ARRAY[${side}_coins, ${UNITS(`${side}_amount`)}, ${UNITS(`${side}_rate`)}, ${UNITS(`${side}_rate_round`)}]::text[] END AS ${side}`;

/** Owners' sums at a snapshot: a seek for each, and the expired coins of those that may have some. */
export function createOwnersReader(
  ask: Ask,
  snapshots: SnapshotReader,
): (lookup: Lookup<'owners'>) => Promise<OwnersFacts> {
  async function lowestOpenRound(): Promise<bigint | null> {
    const [row] = await ask<{ round: number | bigint | null }>(
      `SELECT min(round) AS round FROM round_opened o WHERE migration_id = (SELECT max(migration_id) FROM snapshot_control)
         AND NOT EXISTS (SELECT FROM round_archived x WHERE x.migration_id = o.migration_id AND x.contract_id = o.contract_id)`,
    );
    return row!.round === null ? null : BigInt(row!.round);
  }

  async function expiredOf(
    snapshot: StoredSnapshot,
    owners: readonly string[],
    round: bigint,
  ): Promise<Map<string, NonNullable<OwnerFacts['expired']>>> {
    const place = 'migration_id = $1 AND owner = w.owner AND created_seq <= $2 AND expires <= $4::bigint';
    const columns = 'locked, amount, rate, round';
    const rows = await ask<CoinSums & { owner: string; locked: number }>(
      `SELECT w.owner, locked, ${UNITS('sum(amount)')} AS amount, ${UNITS('sum(rate)')} AS rate, ${UNITS('sum(rate * round)')} AS "rateRound"
       FROM unnest($3::text[]) AS w(owner) CROSS JOIN LATERAL (
         SELECT ${columns} FROM coin WHERE archived_seq IS NULL AND ${place}
         UNION ALL SELECT ${columns} FROM coin WHERE archived_seq > $2 AND ${place}) k GROUP BY 1, 2`,
      [snapshot.migrationId, snapshot.seq, owners, round],
    );
    const found = new Map(owners.map((owner) => [owner, { unlocked: NO_COINS, locked: NO_COINS }]));
    for (const { owner, locked, ...sums } of rows) found.get(owner)![locked === 1 ? 'locked' : 'unlocked'] = sums;
    return found;
  }

  return async ({ snapshot: choice, round: wanted, owners }) => {
    const snapshot = await snapshots.find(choice);
    const round = wanted === 'lowest open' ? await lowestOpenRound() : wanted;
    if (snapshot === null) return { snapshot, round, owners: [] };
    const rows = await ask<TotalsRow>(
      `SELECT w.party, ${SUMS('u')}, ${SUMS('l')}, t.expires FROM unnest($3::text[]) WITH ORDINALITY AS w(party, n)
       LEFT JOIN LATERAL (SELECT * FROM owner_total o WHERE o.migration_id = $1 AND o.owner = w.party AND o.seq <= $2
         ORDER BY o.seq DESC LIMIT 1) t ON true ORDER BY w.n`,
      [snapshot.migrationId, snapshot.seq, owners],
    );
    const totals = rows.map(({ party, u, l, expires }) => {
      const expiryBound = expires ?? Infinity;
      return { party, unlocked: sumsOf(u, expiryBound), locked: sumsOf(l, expiryBound) };
    });
    const mayHave =
      round === null ? [] : totals.filter((owner) => mayHaveExpired(owner, round)).map(({ party }) => party);
    const expired = mayHave.length === 0 ? null : await expiredOf(snapshot, mayHave, round!);
    return {
      snapshot,
      round,
      owners: totals.map((owner) => ({ ...owner, expired: expired?.get(owner.party) ?? null })),
    };
  };
}

function sumsOf(row: readonly string[] | null, expiryBound: number | bigint): OwnerSums {
  if (row === null) return { count: 0, ...NO_COINS, expiryBound: Infinity };
  const [count, amount, rate, rateRound] = row.map(BigInt) as [bigint, bigint, bigint, bigint];
  return { count: Number(count), amount, rate, rateRound, expiryBound };
}

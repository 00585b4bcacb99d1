import type { PartyTotals, RankedBy, Ranking, SnapshotPlace, Totals } from '../holdings/insight/facts.ts';
import { TOTALS, type TotalsRow, totalsOf } from './changes.ts';
import type { Ask } from './pool.ts';

/**
 * Rankings are computed from all owners of a snapshot, and the last few that were asked for are kept, because a sealed snapshot
 * never changes: this many, and of this many owners in all, each of which takes some 700 bytes. The last one is always kept.
 */
const KEPT_MAX = 4;
const KEPT_OWNERS_MAX = 400_000;

interface Ranked {
  readonly ranking: Ranking;
  /** An owner's number is its place among those with coin, by party id. */
  readonly owners: readonly PartyTotals[];
}

export type Rankings = (ask: Ask, place: SnapshotPlace & { readonly seq: number }) => Promise<Ranked>;

export function createRankings(): Rankings {
  /** The least recently asked for comes first. */
  const kept = new Map<string, { readonly ranked: Promise<Ranked>; size: number }>();

  function forget(): void {
    let owners = [...kept.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [key, { size }] of kept) {
      if (kept.size === 1 || (kept.size <= KEPT_MAX && owners <= KEPT_OWNERS_MAX)) return;
      kept.delete(key);
      owners -= size;
    }
  }

  function begin(key: string, ranked: Promise<Ranked>): { readonly ranked: Promise<Ranked>; size: number } {
    const entry = { ranked, size: 0 };
    ranked.then(
      ({ owners }) => {
        entry.size = owners.length;
        forget();
      },
      () => kept.delete(key),
    );
    return entry;
  }

  return (ask, place) => {
    const key = `${place.migrationId} ${place.seq}`;
    const entry = kept.get(key) ?? begin(key, rank(ask, place));
    kept.delete(key);
    kept.set(key, entry);
    return entry.ranked;
  };
}

async function rank(ask: Ask, { migrationId, seq }: { migrationId: number; seq: number }): Promise<Ranked> {
  const rows = await ask<TotalsRow & { owner: string }>(
    `SELECT * FROM (SELECT DISTINCT ON (owner) owner, ${TOTALS} FROM owner_total
       WHERE migration_id = $1 AND seq <= $2 ORDER BY owner, seq DESC) t WHERE contracts > 0`,
    [migrationId, seq],
  );
  const owners = rows.map((row) => ({ party: row.owner, ...totalsOf(row) }));
  const order = (by: RankedBy): Uint32Array => {
    const amounts = owners.map((owner) => amountOf(owner, by));
    const places = Uint32Array.from(owners.keys());
    return places.sort((a, b) => (amounts[a]! === amounts[b]! ? a - b : amounts[a]! > amounts[b]! ? -1 : 1));
  };
  return { owners, ranking: { total: order('total'), unlocked: order('unlocked'), locked: order('locked') } };
}

function amountOf({ unlocked, locked }: Totals, by: RankedBy): bigint {
  if (by === 'total') return unlocked + locked;
  return by === 'unlocked' ? unlocked : locked;
}

export function numbered({ owners }: Ranked, numbers: readonly number[]): readonly PartyTotals[] {
  return numbers.map((number) => {
    const owner = owners[number];
    if (owner === undefined) throw new Error(`a ranking has no owner ${number}`);
    return owner;
  });
}

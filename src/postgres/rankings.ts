import type { PartyTotals, Ranking, SnapshotPlace } from '../holdings/insight/facts.ts';
import { TOTALS, type TotalsRow, totalsOf } from './changes.ts';
import type { Ask } from './pool.ts';

/**
 * PostgreSQL orders all owners of a snapshot, and the orders of the last few that were asked for are kept, because a sealed snapshot
 * never changes: this many, and of this many owners in all, each of which takes 12 bytes. The last one is always kept, and of each
 * so many owners that were asked for last, at some 500 bytes.
 */
const KEPT_MAX = 4;
const KEPT_OWNERS_MAX = 4_000_000;
const KNOWN_OWNERS_MAX = 10_000;

type Place = SnapshotPlace & { readonly seq: number };

export interface Ranked {
  readonly ranking: Ranking;
  /** By their numbers: an owner's is its place among those with coin, by party id. */
  numbered(ask: Ask, numbers: readonly number[]): Promise<readonly PartyTotals[]>;
}

export type Rankings = (ask: Ask, place: Place) => Promise<Ranked>;

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
      ({ ranking }) => {
        entry.size = ranking.total.length;
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

/** The owners with coin at a snapshot, and their numbers. */
const OWNERS = `owners AS MATERIALIZED (
  SELECT *, (row_number() OVER (ORDER BY owner) - 1)::int AS number FROM (
    SELECT DISTINCT ON (owner) owner, ${TOTALS} FROM owner_total
    WHERE migration_id = $1 AND seq <= $2 ORDER BY owner, seq DESC) newest
  WHERE contracts > 0)`;

const orderBy = (amount: string): string =>
  `(SELECT COALESCE(string_agg(int4send(number), ''::bytea ORDER BY ${amount} DESC, number), ''::bytea) FROM owners)`;

async function rank(ask: Ask, { migrationId, seq }: Place): Promise<Ranked> {
  const [row] = await ask<Readonly<Record<'total' | 'unlocked' | 'locked', Buffer>>>(
    `WITH ${OWNERS} SELECT ${orderBy('unlocked + locked')} AS total, ${orderBy('unlocked')} AS unlocked, ${orderBy('locked')} AS locked`,
    [migrationId, seq],
  );
  const { total, unlocked, locked } = row!;
  const known = new Map<number, PartyTotals>();
  return {
    ranking: { total: numbersIn(total), unlocked: numbersIn(unlocked), locked: numbersIn(locked) },
    async numbered(askFor, numbers) {
      const missing = numbers.filter((number) => !known.has(number));
      const rows =
        missing.length === 0
          ? []
          : await askFor<TotalsRow & { number: number; owner: string }>(
              `WITH ${OWNERS} SELECT * FROM owners WHERE number = ANY($3::int[])`,
              [migrationId, seq, missing],
            );
      const found = new Map(rows.map((each) => [each.number, { party: each.owner, ...totalsOf(each) }]));
      const owners = numbers.map((number) => {
        const owner = known.get(number) ?? found.get(number);
        if (owner === undefined) throw new Error(`a ranking has no owner ${number}`);
        return owner;
      });
      for (const [number, owner] of found) known.set(number, owner);
      // The first that were asked for go first.
      for (const number of known.keys()) {
        if (known.size <= KNOWN_OWNERS_MAX) break;
        known.delete(number);
      }
      return owners;
    },
  };
}

/** Numbers of four bytes each, as PostgreSQL sends them. */
function numbersIn(bytes: Buffer): Uint32Array {
  const own = Buffer.from(bytes).swap32();
  return new Uint32Array(own.buffer.slice(own.byteOffset, own.byteOffset + own.length));
}

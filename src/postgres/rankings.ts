import type { PartyTotals, Ranking, SnapshotPlace } from '../holdings/facts.ts';
import { LastComputed } from '../holdings/reading/last-computed.ts';
import { TOTALS } from './changes.ts';
import type { Ask } from './pool.ts';

type Place = SnapshotPlace & { readonly seq: number };

/** How to ask for what is bounded by its question, and for a pass over all owners. */
export interface Asks {
  readonly ask: Ask;
  readonly pass: Ask;
}

interface Ranked {
  readonly ranking: Ranking;
  /** By number, `ROW_BYTES` each. */
  readonly rows: Buffer;
}

export interface Rankings {
  ranking(asks: Asks, place: Place): Promise<Ranking>;
  /** By their numbers: an owner's is its place among those with coin, by party id. */
  numbered(asks: Asks, place: Place, numbers: readonly number[]): Promise<readonly PartyTotals[]>;
}

/** PostgreSQL orders all owners of a snapshot. The last orders are kept, because a sealed snapshot never changes. */
export function createRankings(): Rankings {
  // Of each owner its number three times, and the place of its row.
  const last = new LastComputed<Ranked>(({ ranking, rows }) => 3 * ranking.total.byteLength + rows.length);
  const keyOf = ({ migrationId, seq }: Place): string => `${migrationId} ${seq}`;
  const rankedAt = ({ pass }: Asks, place: Place): Promise<Ranked> => last.of(keyOf(place), () => rank(pass, place));
  return {
    ranking: async (asks, place) => (await rankedAt(asks, place)).ranking,
    async numbered(asks, place, numbers) {
      for (const isAgain of [false, true]) {
        const { rows } = await rankedAt(asks, place);
        const owners = await readOwners(asks.ask, { ...place, rows }, numbers);
        if (owners !== null) return owners;
        // The numbers are of the snapshot, and stay as they are.
        if (!isAgain) last.forget(keyOf(place));
      }
      throw new Error(`the owners of a ranking of migration ${place.migrationId} are not where they were read`);
    },
  };
}

/**
 * Where the row of an owner is (`ctid`), and a hash of its owner and interval: in a table that was written anew, by VACUUM FULL or from
 * a backup, there is another one.
 */
const ROW_BYTES = 6 + 8;
const HASH = 'hashtextextended(owner, seq)';

const orderBy = (amount: string): string =>
  `(SELECT COALESCE(string_agg(int4send(number), ''::bytea ORDER BY ${amount} DESC, number), ''::bytea) FROM owners)`;

/** The owners with coin at a snapshot, with their numbers. */
const RANK = `WITH owners AS MATERIALIZED (
  SELECT *, (row_number() OVER (ORDER BY owner) - 1)::int AS number FROM (
    SELECT DISTINCT ON (owner) owner, seq, ctid AS place, ${TOTALS} FROM owner_total
    WHERE migration_id = $1 AND seq <= $2 ORDER BY owner, seq DESC) newest
  WHERE contracts > 0)
SELECT ${orderBy('unlocked + locked')} AS total, ${orderBy('unlocked')} AS unlocked, ${orderBy('locked')} AS locked,
  (SELECT COALESCE(string_agg(tidsend(place) || int8send(${HASH}), ''::bytea ORDER BY number), ''::bytea) FROM owners) AS rows`;

async function rank(ask: Ask, { migrationId, seq }: Place): Promise<Ranked> {
  const [row] = await ask<Readonly<Record<'total' | 'unlocked' | 'locked' | 'rows', Buffer>>>(RANK, [migrationId, seq]);
  const { total, unlocked, locked, rows } = row!;
  return {
    ranking: { total: numbersIn(total), unlocked: numbersIn(unlocked), locked: numbersIn(locked) },
    // The answer is a part of a larger buffer.
    rows: Buffer.from(rows),
  };
}

/** Null where not each of them is at its place. */
async function readOwners(
  ask: Ask,
  { migrationId, rows }: Pick<Place, 'migrationId'> & Pick<Ranked, 'rows'>,
  numbers: readonly number[],
): Promise<readonly PartyTotals[] | null> {
  const places = numbers.map((number) => {
    if (number * ROW_BYTES >= rows.length) throw new Error(`a ranking has no owner ${number}`);
    const at = rows.subarray(number * ROW_BYTES, (number + 1) * ROW_BYTES);
    return `(${at.readUInt32BE(0)},${at.readUInt16BE(4)}) ${at.readBigInt64BE(6)}`;
  });
  const found = await ask<PartyTotals & { place: string }>(
    `SELECT ctid || ' ' || ${HASH} AS place, owner AS party, ${TOTALS} FROM owner_total
     WHERE ctid = ANY($1::tid[]) AND migration_id = $2`,
    [places.map((place) => place.split(' ', 1)[0]), migrationId],
  );
  const byPlace = new Map(found.map(({ place, ...owner }) => [place, owner]));
  const owners = places.flatMap((place) => byPlace.get(place) ?? []);
  return owners.length === places.length ? owners : null;
}

/** Numbers of four bytes each, as PostgreSQL sends them. */
function numbersIn(bytes: Buffer): Uint32Array {
  const own = Buffer.from(bytes).swap32();
  return new Uint32Array(own.buffer.slice(own.byteOffset, own.byteOffset + own.length));
}

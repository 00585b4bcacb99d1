import type { Database } from 'better-sqlite3';
import type { Order, Ranking, Totals } from '../../holdings/facts.ts';
import { decodeVersion } from '../store/stored-rows.ts';
import type { StoredSnapshot } from './stored-snapshots.ts';

/** An owner's totals at the end of an interval. */
export interface Version {
  readonly seq: number;
  readonly totals: Totals;
}

export type VersionReader = ReturnType<typeof createVersionReader>;

interface VersionRow {
  readonly seq: number;
  readonly v: Buffer;
}

/** So many that what a statement costs is shared by many, and that they are little in memory. */
const OWNERS_AT_ONCE = 1_000;

/** The versions of owners. Only unbounded reads go through more than one of them. `? + 0`: see views/store/database.ts. */
export function createVersionReader(db: Database) {
  const newest = db.prepare<[number, number], VersionRow>(
    'SELECT seq, v FROM owner_total WHERE owner = ? + 0 AND seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  const between = (order: Order) =>
    db.prepare<[number, number, number], VersionRow>(
      `SELECT seq, v FROM owner_total WHERE owner = ? + 0 AND seq BETWEEN ? AND ? ORDER BY seq ${order}`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  const versionOf = ({ seq, v }: VersionRow): Version => ({ seq, totals: totalsIn(v) });
  return {
    /** The newest up to an interval. */
    at(owner: number, seq: number): Version | null {
      const row = newest.get(owner, seq);
      return row === undefined ? null : versionOf(row);
    },
    /** Those of some intervals, both inclusive. */
    *between(owner: number, { from, to }: { from: number; to: number }, order: Order): Iterable<Version> {
      for (const row of inOrder[order].iterate(owner, from, to)) yield versionOf(row);
    },
    /** The newest of each owner of a migration up to an interval, by number. */
    *all(migrationId: number, seq: number): Iterable<{ readonly owner: number; readonly totals: Totals }> {
      // By number, their versions lie one after the other; and many rows at once cost less than each by itself.
      const rows = db
        .prepare<[number, number, number, number], [owner: number, v: Buffer | null]>(
          `SELECT id, (SELECT v FROM owner_total WHERE owner = id AND seq <= ? ORDER BY seq DESC LIMIT 1)
           FROM owner NOT INDEXED WHERE id > ? AND id <= ? AND migration_id = ? ORDER BY id`,
        )
        .raw();
      const last = db.prepare<[], number | null>('SELECT max(id) FROM owner').pluck().get() ?? 0;
      for (let from = 0; from < last; from += OWNERS_AT_ONCE)
        for (const [owner, v] of rows.all(seq, from, from + OWNERS_AT_ONCE, migrationId))
          if (v !== null) yield { owner, totals: totalsIn(v) };
    },
  };
}

function totalsIn(v: Buffer): Totals {
  const { unlocked, locked } = decodeVersion(v);
  return { unlocked: unlocked.amount, locked: locked.amount, contracts: unlocked.count + locked.count };
}

/** Sums in two doubles that count exactly: high * 2^53 + low. */
interface Sums {
  readonly high: Float64Array;
  readonly low: Float64Array;
}

const LOW_BITS = 53;

/**
 * Orders the owners with coin at a snapshot, the largest first, equal ones by the UTF-8 bytes of their parties. There may be
 * millions, so only packed numbers are held: some 80 MB for a million.
 */
export function rankOwners(db: Database, snapshot: StoredSnapshot, versions: VersionReader): Ranking {
  const { owners: count, seq, migrationId } = snapshot;
  const sums = (): Sums => ({ high: new Float64Array(count), low: new Float64Array(count) });
  const [unlocked, locked, total] = [sums(), sums(), sums()];
  const owners = new Uint32Array(count);
  let found = 0;
  for (const { owner, totals } of versions.all(migrationId, seq)) {
    if (totals.contracts === 0) continue;
    if (found === count) throw new Error(`migration ${migrationId} has more than ${count} owners in snapshot ${seq}`);
    owners[found] = owner;
    write(unlocked, found, totals.unlocked);
    write(locked, found, totals.locked);
    write(total, found, totals.unlocked + totals.locked);
    found += 1;
  }
  if (found !== count) throw new Error(`migration ${migrationId} has ${found} of ${count} owners in snapshot ${seq}`);

  const byParty = partyOrder(db, migrationId, owners);
  // A stable sort, so equal sums stay in the order of their parties.
  const ranked = ({ high, low }: Sums): Uint32Array =>
    byParty
      .slice()
      .sort((a, b) => high[b]! - high[a]! || low[b]! - low[a]!)
      .map((at) => owners[at]!);
  return { unlocked: ranked(unlocked), locked: ranked(locked), total: ranked(total) };
}

function write({ high, low }: Sums, at: number, sum: bigint): void {
  high[at] = Number(sum >> BigInt(LOW_BITS));
  low[at] = Number(BigInt.asUintN(LOW_BITS, sum));
}

/** The indexes of `owners`, which are in ascending order, by their parties. */
function partyOrder(db: Database, migrationId: number, owners: Uint32Array): Uint32Array {
  const indexes = new Uint32Array((owners.at(-1) ?? 0) + 1);
  owners.forEach((owner, i) => {
    indexes[owner] = i;
  });
  const byParty = db
    .prepare<[number], number>('SELECT id FROM owner WHERE migration_id = ? + 0 ORDER BY party')
    .pluck();
  const order = new Uint32Array(owners.length);
  let placed = 0;
  for (const owner of byParty.iterate(migrationId)) {
    const index = indexes[owner]!;
    if (owners[index] === owner) order[placed++] = index;
  }
  return order;
}

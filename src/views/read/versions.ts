import type { Database } from 'better-sqlite3';
import type { Order, Totals } from '../../holdings/facts.ts';
import { decodeVersion } from '../store/totals.ts';

/** An owner's totals at the end of an interval. */
export interface Version {
  readonly seq: number;
  readonly totals: Totals;
}

/** The versions of owners. Only unbounded reads go through more than one of them. */
export interface VersionReader {
  /** The newest up to an interval. */
  at(owner: number, seq: number): Version | null;
  /** Those of some intervals, both inclusive. */
  between(owner: number, range: { readonly from: number; readonly to: number }, order: Order): Iterable<Version>;
  /** The newest of each owner of a migration up to an interval, by number. */
  all(migrationId: number, seq: number): Iterable<{ readonly owner: number; readonly totals: Totals }>;
}

interface Row {
  readonly seq: number;
  readonly v: Buffer;
}

/** So many that what a statement costs is shared by many, and that they are little in memory. */
const OWNERS_AT_ONCE = 1_000;

/** `? + 0`: see views/store/database.ts. */
export function createVersionReader(db: Database): VersionReader {
  const newest = db.prepare<[number, number], Row>(
    'SELECT seq, v FROM owner_total WHERE owner = ? + 0 AND seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  const between = (order: Order) =>
    db.prepare<[number, number, number], Row>(
      `SELECT seq, v FROM owner_total WHERE owner = ? + 0 AND seq BETWEEN ? AND ? ORDER BY seq ${order}`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };
  return {
    at(owner, seq) {
      const row = newest.get(owner, seq);
      return row === undefined ? null : versionOf(row);
    },
    *between(owner, { from, to }, order) {
      for (const row of inOrder[order].iterate(owner, from, to)) yield versionOf(row);
    },
    *all(migrationId, seq) {
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
          if (v !== null) yield { owner, totals: totalsOf(v) };
    },
  };
}

function versionOf({ seq, v }: Row): Version {
  return { seq, totals: totalsOf(v) };
}

function totalsOf(v: Buffer): Totals {
  const { unlocked, locked } = decodeVersion(v);
  return { unlocked: unlocked.amount, locked: locked.amount, contracts: unlocked.count + locked.count };
}

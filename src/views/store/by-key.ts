import type { Database, Statement } from 'better-sqlite3';

/** Keys per statement: one look-up of 128 costs less than half of 128 look-ups. */
const KEYS = 128;
/** Fewer keys than this are looked up one by one. */
const REST_MIN = 32;
/** Fills up an incomplete statement: no key is negative. */
const NO_KEY = -1;

/** A query by one integer key, prepared for many keys at once and for one. */
export interface KeyReader<Row> {
  readonly many: Statement<number[], Row>;
  readonly one: Statement<number[], Row>;
}

/**
 * By a key that an index or the table itself is ordered by. Keys as a table that is joined, not as a list after IN: SQLite would
 * sort that list, and ours are in order.
 */
export function prepareByKey<Row>(
  db: Database,
  { columns, table, key }: Readonly<Record<'columns' | 'table' | 'key', string>>,
): KeyReader<Row> {
  const wanted = `wanted(wanted_key) AS (VALUES ${Array(KEYS).fill('(?)').join(', ')})`;
  return {
    many: db.prepare<number[], Row>(
      `WITH ${wanted} SELECT ${columns} FROM wanted CROSS JOIN ${table} ON ${key} = wanted_key`,
    ),
    one: db.prepare<number[], Row>(`SELECT ${columns} FROM ${table} WHERE ${key} = ?`),
  };
}

/** Reads the rows of all keys, those of a repeated key perhaps again; keys in order are read fastest. */
export function readByKey<Row>({ many, one }: KeyReader<Row>, keys: Float64Array, take: (row: Row) => void): void {
  // Arguments are spread several times faster from a list than from a typed array.
  const some = Array<number>(KEYS).fill(NO_KEY);
  let at = 0;
  while (keys.length - at >= REST_MIN) {
    const end = Math.min(at + KEYS, keys.length);
    for (let i = 0; i < KEYS; i++) some[i] = at + i < end ? keys[at + i]! : NO_KEY;
    many.all(...some).forEach(take);
    at = end;
  }
  for (; at < keys.length; at++) one.all(keys[at]!).forEach(take);
}

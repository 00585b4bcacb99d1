import type { Database, Statement } from 'better-sqlite3';

/** Keys per statement: one look-up of 128 costs less than half of 128 look-ups. */
const KEYS = 128;
/** A rest of fewer keys is looked up one by one. */
const REST_MIN = 32;

/** A query by one integer key, prepared for many keys at once and for one. */
export interface FoldReader<Row> {
  readonly many: Statement<number[], Row>;
  readonly one: Statement<number[], Row>;
}

/** `select` ends with the key's column, such as `SELECT h, no FROM active WHERE h`. */
export function prepareByFold<Row>(db: Database, select: string): FoldReader<Row> {
  return {
    many: db.prepare<number[], Row>(`${select} IN (${Array(KEYS).fill('?').join(', ')})`),
    one: db.prepare<number[], Row>(`${select} = ?`),
  };
}

/** Reads the rows of all keys; keys in order are read fastest. */
export function readByFold<Row>({ many, one }: FoldReader<Row>, keys: Float64Array, take: (row: Row) => void): void {
  let at = 0;
  for (; at + KEYS <= keys.length; at += KEYS) many.all(...keys.subarray(at, at + KEYS)).forEach(take);
  if (keys.length - at < REST_MIN) {
    for (; at < keys.length; at++) one.all(keys[at]!).forEach(take);
    return;
  }
  const rest = new Float64Array(KEYS).fill(keys.at(-1)!);
  rest.set(keys.subarray(at));
  many.all(...rest).forEach(take);
}

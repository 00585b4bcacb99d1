import type { Database, Statement } from 'better-sqlite3';
import { INT64_MAX } from '../../json/exact-number.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { VIEWS_DAMAGED } from '../../machine-errors.ts';

/** Amounts and ids as SQLite columns hold them: exact at any width. */
type Stored = string | number | bigint | Buffer | null;

/** Of units that are too wide for an INTEGER. */
const WIDE_BYTES = 16;

/** Units below 2^63 as an INTEGER, larger ones (below 2^127) as 16 bytes, big-endian. */
export function unitsColumn(units: bigint): bigint | Buffer {
  if (units <= INT64_MAX) return units;
  return Buffer.from(units.toString(16).padStart(WIDE_BYTES * 2, '0'), 'hex');
}

export function unitsOf(column: bigint | Buffer): bigint {
  return typeof column === 'bigint' ? column : BigInt(`0x${column.toString('hex')}`);
}

/** The columns of `holding` that a coin's terms follow from, read as bigints, and its owner's party. */
export interface CoinRow {
  readonly locked: bigint;
  readonly owner: string;
  readonly amount: bigint | Buffer;
  readonly rate: bigint | Buffer;
  readonly round: bigint;
  readonly extra: string | null;
}

export function coinTerms({ locked, owner, amount, rate, round, extra }: CoinRow) {
  return { entity: coinEntity(locked === 1n), owner, amount: unitsOf(amount), rate: unitsOf(rate), round, extra };
}

/** An expiry round as a column: null for never. */
export function expiryColumn(expiry: number | bigint): number | bigint | null {
  return expiry === Infinity ? null : expiry;
}

/** A value that is stored as text. Where it is not of the form that was written, the error is that of a damaged database. */
export function parseColumn<T>(column: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    const message = `views.db: ${column}: ${(error as Error).message}`;
    throw Object.assign(new Error(message, { cause: error }), { code: VIEWS_DAMAGED });
  }
}

/** Who is followed, as `setting` has it: a JSON list of parties; null where all owners are. */
export function followedIn(text: string | null): ReadonlySet<string> | null {
  return text === null ? null : parseColumn('setting.followed', text, partiesIn);
}

function partiesIn(text: string): ReadonlySet<string> {
  const listed: unknown = JSON.parse(text);
  if (Array.isArray(listed)) return new Set(listed);
  throw new TypeError('it is no list');
}

/** Rows per statement: measured; fewer cost more calls, more cost more binding. */
const ROWS = 16;
const DELETED_ROWS = 64;

/** Writes rows in groups: one statement of 16 rows costs about half of 16 statements. */
export class BulkRows {
  readonly #many: Statement;
  readonly #one: Statement;
  readonly #columns: number;
  readonly #values: Stored[];
  #filled = 0;

  private constructor(db: Database, columns: number, rows: number, sqlOf: (values: string) => string) {
    const row = `(${Array(columns).fill('?').join(', ')})`;
    this.#many = db.prepare(sqlOf(`VALUES ${Array(rows).fill(row).join(', ')}`));
    this.#one = db.prepare(sqlOf(`VALUES ${row}`));
    this.#columns = columns;
    this.#values = Array<Stored>(rows * columns).fill(null);
  }

  /** `insert` is everything before VALUES, such as `INSERT INTO active`. */
  static inserting(db: Database, insert: string, columns: number): BulkRows {
    return new BulkRows(db, columns, ROWS, (values) => `${insert} ${values}`);
  }

  /** Deletes the rows of a table that have these values in these columns, its key. */
  static deleting(db: Database, table: string, key: readonly string[]): BulkRows {
    const where = `DELETE FROM ${table} WHERE (${key.join(', ')}) IN`;
    return new BulkRows(db, key.length, DELETED_ROWS, (values) => `${where} (${values})`);
  }

  /** Adds a row: a value for each column. */
  add(...row: Stored[]): void {
    const values = this.#values;
    let at = this.#filled;
    for (let i = 0; i < row.length; i++) values[at++] = row[i]!;
    this.#filled = at;
    if (at < values.length) return;
    this.#many.run(...values);
    this.#filled = 0;
  }

  /** Writes the remaining rows; called before the commit. */
  finish(): void {
    for (let at = 0; at < this.#filled; at += this.#columns) {
      this.#one.run(this.#values.slice(at, at + this.#columns));
    }
    this.#filled = 0;
  }
}

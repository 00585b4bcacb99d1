import type { Database, Statement } from 'better-sqlite3';
import type { Stored } from './columns.ts';

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

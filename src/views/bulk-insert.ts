import type { Database, Statement } from 'better-sqlite3';

/** Rows per statement: measured; fewer cost more calls, more cost more binding. */
const ROWS = 16;

/** Inserts rows in groups: one statement of 16 rows costs about half of 16 statements. */
export class BulkInsert {
  readonly #many: Statement;
  readonly #one: Statement;
  readonly #columns: number;
  readonly #values: unknown[];
  #filled = 0;

  /** `insert` is everything before VALUES, such as `INSERT INTO active`. */
  constructor(db: Database, insert: string, columns: number) {
    const row = `(${Array(columns).fill('?').join(', ')})`;
    this.#many = db.prepare(`${insert} VALUES ${Array(ROWS).fill(row).join(', ')}`);
    this.#one = db.prepare(`${insert} VALUES ${row}`);
    this.#columns = columns;
    this.#values = Array(ROWS * columns).fill(null);
  }

  add(row: readonly unknown[]): void {
    const values = this.#values;
    let at = this.#filled;
    for (let i = 0; i < row.length; i++) values[at++] = row[i];
    this.#filled = at;
    if (at < values.length) return;
    this.#many.run(values);
    this.#filled = 0;
  }

  /** Writes what is left; to be called before the commit. */
  finish(): void {
    for (let at = 0; at < this.#filled; at += this.#columns) {
      this.#one.run(this.#values.slice(at, at + this.#columns));
    }
    this.#filled = 0;
  }
}

import DatabaseFile, { type Database } from 'better-sqlite3';
import { archivedLine, createdLine, itemOf } from '../../ledger/digest.ts';
import { BulkRows } from '../store/bulk-rows.ts';
import type { Contract } from './owner-fold.ts';
import type { SealedMigration } from './types.ts';

/** Memory for items; those beyond it are in a file in the folder for temporary files, which is gone with the process. */
const CACHE_KIB = 32 * 1024;

/** The items (docs/digest.md) that the contracts give, sorted by the snapshot on the grid that shows them. */
export class ItemsFound implements Disposable {
  readonly #db: Database;
  readonly #insert: BulkRows;

  constructor() {
    // A database without a name is private and temporary.
    this.#db = new DatabaseFile('');
    this.#db.pragma('journal_mode = OFF');
    this.#db.pragma('synchronous = OFF');
    this.#db.pragma(`cache_size = -${CACHE_KIB}`);
    this.#db.exec('CREATE TABLE found(place INTEGER, item BLOB)');
    this.#insert = BulkRows.inserting(this.#db, 'INSERT INTO found', 2);
    this.#db.exec('BEGIN');
  }

  /** Adds what a contract is in the digests: nothing where it was made and archived in one interval of the grid. */
  add(migration: SealedMigration | undefined, { coin, contractId, createdSeq, archivedSeq }: Contract): void {
    if (migration === undefined) return;
    const created = intervalOf(migration, createdSeq);
    const archived = archivedSeq === null ? null : intervalOf(migration, archivedSeq);
    if (created === archived) return;
    this.#add(migration, created, createdLine(coin, contractId));
    if (archived !== null) this.#add(migration, archived, archivedLine(contractId));
  }

  #add({ grid, gridBefore }: SealedMigration, interval: number, line: string): void {
    // Of the open interval: the next snapshot shows it.
    if (interval >= grid.length) return;
    try {
      this.#insert.add(gridBefore + interval, Buffer.from(itemOf(line), 'latin1'));
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** All items in order, each with the place of its snapshot among those on the grid of all migrations. */
  *sorted(): Generator<[place: number, item: Buffer], undefined> {
    try {
      this.#insert.finish();
      const sorted = this.#db.prepare<[], [number, Buffer]>('SELECT place, item FROM found ORDER BY place, item');
      yield* sorted.raw().iterate();
    } catch (error) {
      throw noRoom(error);
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

/** Not what the same error of views.db would mean. */
function noRoom(error: unknown): Error {
  const room = 'the contracts cannot be sorted in the folder for temporary files (TMPDIR, /var/tmp or /tmp)';
  return new Error(`${room}: ${(error as Error).message}`, { cause: error });
}

/** The index in the grid of the first snapshot that an interval is before; beyond the last where that one is open. */
function intervalOf({ grid }: SealedMigration, seq: bigint): number {
  let [from, to] = [0, grid.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (grid[middle]! < seq) from = middle + 1;
    else to = middle;
  }
  return from;
}

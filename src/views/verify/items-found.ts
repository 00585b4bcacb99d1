import DatabaseFile, { type Database } from 'better-sqlite3';
import { archivedLine, createdLine, type DigestedCoin, ITEM_BYTES, itemOf } from '../../ledger/digest.ts';
import { BulkRows } from '../store/bulk-rows.ts';
import { getOrMake, type VerifyContext } from './types.ts';

/** Memory for items; those beyond it are in a file in the folder for temporary files, which is gone with the process. */
const CACHE_KIB = 32 * 1024;

interface Intervals {
  /** The numbers of the migration's snapshots on the grid, in order. */
  readonly grid: readonly bigint[];
  /** The place of the first of them among those of all migrations. */
  readonly start: number;
  /** The exclusive or of all items of the open interval. */
  readonly open: Buffer;
}

/** The items (docs/digest.md) that the contracts give, sorted by the snapshot on the grid that shows them. */
export class ItemsFound implements Disposable {
  readonly #db: Database;
  readonly #insert: BulkRows;
  readonly #migrations = new Map<number, Intervals>();

  constructor({ sealed }: Pick<VerifyContext, 'sealed'>) {
    // A database without a name is private and temporary.
    this.#db = new DatabaseFile('');
    this.#db.pragma('journal_mode = OFF');
    this.#db.pragma('synchronous = OFF');
    this.#db.pragma(`cache_size = -${CACHE_KIB}`);
    this.#db.exec('CREATE TABLE found(place INTEGER, item BLOB)');
    this.#insert = BulkRows.inserting(this.#db, 'INSERT INTO found', 2);
    let start = 0;
    for (const { migrationId, grid } of sealed.values()) {
      this.#migrations.set(migrationId, { grid, start, open: noItems() });
      start += grid.length;
    }
    this.#db.exec('BEGIN');
  }

  /** Adds what a contract is in the digests: nothing where it was made and archived in one interval of the grid. */
  add(
    { migrationId, createdSeq, archivedSeq }: { migrationId: number; createdSeq: bigint; archivedSeq: bigint | null },
    coin: DigestedCoin,
    contractId: string,
  ): void {
    const intervals = getOrMake(this.#migrations, migrationId, () => ({ grid: [], start: 0, open: noItems() }));
    const created = intervalOf(intervals, createdSeq);
    const archived = archivedSeq === null ? null : intervalOf(intervals, archivedSeq);
    if (created === archived) return;
    this.#add(intervals, created, createdLine(coin, contractId));
    if (archived !== null) this.#add(intervals, archived, archivedLine(contractId));
  }

  #add({ grid, start, open }: Intervals, interval: number, line: string): void {
    const item = Buffer.from(itemOf(line), 'latin1');
    if (interval >= grid.length) return addItems(open, item);
    try {
      this.#insert.add(start + interval, item);
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** All items of snapshots on the grid, in order, each with the snapshot's place among those of all migrations. */
  *sorted(): Generator<[place: number, item: Buffer], undefined> {
    try {
      this.#insert.finish();
      const sorted = this.#db.prepare<[], [number, Buffer]>('SELECT place, item FROM found ORDER BY place, item');
      yield* sorted.raw().iterate();
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** The exclusive or of the items of each migration's open interval. */
  open(): ReadonlyMap<number, Buffer> {
    return new Map([...this.#migrations].map(([migrationId, { open }]) => [migrationId, open]));
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

export function noItems(): Buffer {
  return Buffer.alloc(ITEM_BYTES);
}

/** Two equal items cancel each other out, as they do in a digest. */
export function addItems(sum: Buffer, items: Buffer): void {
  for (let at = 0; at < items.length; at++) sum[at % ITEM_BYTES]! ^= items[at]!;
}

/** The place in the grid of the first snapshot that an interval is before; one beyond the last where that one is open. */
function intervalOf({ grid }: Intervals, seq: bigint): number {
  let [from, to] = [0, grid.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (grid[middle]! < seq) from = middle + 1;
    else to = middle;
  }
  return from;
}

import type { Database } from 'better-sqlite3';
import type { EventCursor } from '../../chunk/event-cursor.ts';
import { Items } from '../../chunk/items.ts';
import { changesHash, createdLine, type DigestedCoin, ITEM_BYTES } from '../../ledger/digest.ts';
import type { Micros } from '../../ledger/time.ts';
import { passSorted } from './sorted-items.ts';

/** A migration's items since its last commit. */
interface Open {
  readonly items: Items;
  /** Whether those stored before are sealed. */
  sealed: boolean;
}

/**
 * The items of what changed since each migration's newest snapshot on the grid (docs/digest.md). A contract made and archived in
 * that time has its item twice, and two equal ones cancel each other out at the seal: so none is ever looked for.
 */
export class OpenItems {
  readonly #open = new Map<number, Open>();
  readonly #stored;
  readonly #storedBytes;
  readonly #insert;
  readonly #drop;

  constructor(db: Database) {
    this.#stored = db.prepare<[number], Buffer>('SELECT items FROM open_items WHERE migration_id = ?').pluck();
    this.#storedBytes = db
      .prepare<[number], number | null>('SELECT sum(length(items)) FROM open_items WHERE migration_id = ?')
      .pluck();
    this.#insert = db.prepare('INSERT INTO open_items (migration_id, items) VALUES (?, ?)');
    this.#drop = db.prepare('DELETE FROM open_items WHERE migration_id = ?');
  }

  /** Adds the item of a create or an archive. */
  add(migrationId: number, event: EventCursor): void {
    event.addItemTo(this.#of(migrationId).items);
  }

  /** Adds the item of a create that is no longer in a chunk. */
  addCreated(migrationId: number, coin: DigestedCoin, contractId: string): void {
    this.#of(migrationId).items.addLine(createdLine(coin, contractId));
  }

  /** The changes digest of the snapshot that ends the interval; the next one begins without items. */
  seal(migrationId: number, recordTime: Micros): Buffer {
    const open = this.#of(migrationId);
    const { items, sealed } = open;
    const runs = (): Buffer[] | Generator<Buffer> => (sealed ? [items.bytes] : this.#runs(migrationId, items));
    const stored = sealed ? 0 : (this.#storedBytes.get(migrationId) ?? 0);
    const changes = changesHash(migrationId, recordTime);
    passSorted(runs, stored / ITEM_BYTES + items.length, (sorted) => changes.update(sorted));
    open.sealed = true;
    items.clear();
    return changes.digest();
  }

  *#runs(migrationId: number, items: Items): Generator<Buffer> {
    yield* this.#stored.iterate(migrationId);
    yield items.bytes;
  }

  #of(migrationId: number): Open {
    let open = this.#open.get(migrationId);
    if (open === undefined) {
      open = { items: new Items(), sealed: false };
      this.#open.set(migrationId, open);
    }
    return open;
  }

  flush(): void {
    for (const [migrationId, { items, sealed }] of this.#open) {
      if (sealed) this.#drop.run(migrationId);
      if (items.length > 0) this.#insert.run(migrationId, items.bytes);
    }
  }

  settle(): void {
    for (const open of this.#open.values()) {
      open.sealed = false;
      open.items.clear();
    }
  }
}

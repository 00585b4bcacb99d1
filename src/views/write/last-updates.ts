import type { Database } from 'better-sqlite3';
import { type UpdateRef, updateIdOf } from '../../chunk/refs.ts';
import { idText, type StoredId, storedId } from '../../ledger/contract-id.ts';

/** The rows of `last_update` of one synchronizer. */
interface StoredUpdates {
  has(id: StoredId): boolean;
  any(): StoredId;
  /** Adds these ids; those before are kept only if `keepOlder`. */
  write(added: readonly StoredId[], then: { keepOlder: boolean }): void;
}

/**
 * The updates applied at the last time of one synchronizer, to tell a redelivery from another update of that time
 * (docs/rules.md, rule 1). Usually there is one. But repairs have the record time of the update before them, and there may be
 * any number of them: those of earlier batches stay on disk.
 */
export class LastUpdates {
  /** Those of this batch, as refs: creating an id for each update would cost too much. */
  #added: UpdateRef[];
  #addedTexts: Set<string> | null = null;
  /** The ids on disk; null where they are of an earlier time, or there are none. */
  #stored: { readonly rows: StoredUpdates; readonly count: number } | null;

  private constructor(added: UpdateRef[], stored: { rows: StoredUpdates; count: number } | null) {
    this.#added = added;
    this.#stored = stored;
  }

  /** The first update of its time. */
  static first(update: UpdateRef): LastUpdates {
    return new LastUpdates([update], null);
  }

  static stored(rows: StoredUpdates, count: number): LastUpdates {
    return new LastUpdates([], { rows, count });
  }

  get count(): number {
    return this.#added.length + (this.#stored?.count ?? 0);
  }

  has(id: StoredId): boolean {
    this.#addedTexts ??= new Set(this.#added.map((update) => idText(updateIdOf(update))));
    return this.#addedTexts.has(idText(id)) || (this.#stored?.rows.has(id) ?? false);
  }

  /** One of them, for a message. */
  get any(): StoredId {
    const [first] = this.#added;
    return first === undefined ? this.#stored!.rows.any() : updateIdOf(first);
  }

  add(update: UpdateRef): void {
    this.#added.push(update);
    this.#addedTexts?.add(idText(updateIdOf(update)));
  }

  /** Writes those of this batch; called inside its transaction. */
  save(rows: StoredUpdates): void {
    const { count } = this;
    // Copies, which do not keep a whole chunk in memory.
    const added = this.#added.map((update) => storedId(idText(updateIdOf(update))));
    rows.write(added, { keepOlder: this.#stored !== null });
    this.#stored = { rows, count };
    this.#added = [];
    this.#addedTexts = null;
  }
}

/** Returns the function that gives the rows of one synchronizer. */
export function prepareLastUpdates(db: Database): (migrationId: number, synchronizerId: string) => StoredUpdates {
  const ofSynchronizer = 'FROM last_update WHERE migration_id = ? AND synchronizer_id = ?';
  const has = db.prepare<[number, string, StoredId], number>(`SELECT 1 ${ofSynchronizer} AND update_id = ?`).pluck();
  const any = db.prepare<[number, string], StoredId>(`SELECT update_id ${ofSynchronizer} LIMIT 1`).pluck();
  const forget = db.prepare(`DELETE ${ofSynchronizer}`);
  const insert = db.prepare('INSERT INTO last_update VALUES (?, ?, ?)');
  return (migrationId, synchronizerId) => ({
    has: (id) => has.get(migrationId, synchronizerId, id) === 1,
    any: () => any.get(migrationId, synchronizerId) ?? '',
    write(added, { keepOlder }) {
      if (!keepOlder) forget.run(migrationId, synchronizerId);
      for (const id of added) insert.run(migrationId, synchronizerId, id);
    },
  });
}

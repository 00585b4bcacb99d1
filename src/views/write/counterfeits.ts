import type { Database } from 'better-sqlite3';
import type { EventCursor } from '../../chunk/event-cursor.ts';
import { type StoredId, sameId } from '../../ledger/contract-id.ts';
import { type KeyReader, prepareByKey, readByKey } from '../store/by-key.ts';

interface Change {
  readonly migrationId: number;
  readonly id: StoredId;
  active: boolean;
}

/** Up to so many id hashes are kept in memory; with more, those of each chunk are looked up. */
const KEPT_MAX = 65_536;

/**
 * Active ids of coins and rounds that do not count. Anyone may create any number of them, so they stay on disk. Unless there
 * is an attack they are few: then all their hashes are in memory, and nothing is looked up for the coins that do count.
 */
export class Counterfeits {
  readonly #byHash: KeyReader<{ h: number }>;
  readonly #exists;
  readonly #insert;
  readonly #delete;
  /** Id hashes that may be stored: all of them where `#knowsAll`, else those of the chunk that is being applied. */
  #stored: Set<number>;
  #knowsAll: boolean;
  /** This batch's changes, by id hash. */
  readonly #changed = new Map<number, Change[]>();
  /** Whether a row with that hash is left, by the hashes that the transaction wrote: several ids may have the same. */
  readonly #written = new Map<number, boolean>();

  constructor(db: Database) {
    const idHashes = db
      .prepare<[number], number>('SELECT h FROM counterfeit LIMIT ?')
      .pluck()
      .all(KEPT_MAX + 1);
    this.#knowsAll = idHashes.length <= KEPT_MAX;
    this.#stored = new Set(this.#knowsAll ? idHashes : []);
    this.#byHash = prepareByKey(db, { columns: 'h', table: 'counterfeit', key: 'h' });
    this.#exists = db
      .prepare<[number, number, StoredId], number>(
        'SELECT 1 FROM counterfeit WHERE h = ? AND migration_id = ? AND contract_id = ?',
      )
      .pluck();
    this.#insert = db.prepare('INSERT OR IGNORE INTO counterfeit VALUES (?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM counterfeit WHERE h = ? AND migration_id = ? AND contract_id = ?');
  }

  /** Reads which of these hashes may be those of counterfeits, so that `has` needs no statement for the others. */
  fetch(idHashes: Float64Array): void {
    if (this.#knowsAll) return;
    this.#stored = new Set();
    readByKey(this.#byHash, idHashes.toSorted(), ({ h }) => this.#stored.add(h));
  }

  /**
   * Whether the contract that an event names is an active counterfeit. For nearly every event the hash is enough, and
   * no id is created.
   */
  has(event: EventCursor, migrationId: number): boolean {
    // Usually there are none at all.
    if (this.#stored.size + this.#changed.size === 0) return false;
    const { idHash } = event;
    const isStored = this.#stored.has(idHash);
    if (!isStored && !this.#changed.has(idHash)) return false;
    const id = event.contractId();
    const change = this.#change(idHash, migrationId, id);
    if (change !== undefined) return change.active;
    return isStored && this.#exists.get(idHash, migrationId, id) === 1;
  }

  set(event: EventCursor, migrationId: number, active: boolean): void {
    const [idHash, id] = [event.idHash, event.contractId()];
    const change = this.#change(idHash, migrationId, id);
    if (change !== undefined) {
      change.active = active;
      return;
    }
    const others = this.#changed.get(idHash) ?? [];
    this.#changed.set(idHash, [...others, { migrationId, id, active }]);
  }

  #change(idHash: number, migrationId: number, id: StoredId): Change | undefined {
    return this.#changed.get(idHash)?.find((each) => each.migrationId === migrationId && sameId(each.id, id));
  }

  flush(): void {
    for (const [idHash, changes] of this.#changed) {
      for (const { migrationId, id, active } of changes)
        (active ? this.#insert : this.#delete).run(idHash, migrationId, id);
      this.#written.set(idHash, this.#byHash.one.get(idHash) !== undefined);
    }
  }

  /** Called after the commit. */
  settle(): void {
    for (const [idHash, isStored] of this.#written) {
      if (isStored) this.#stored.add(idHash);
      else this.#stored.delete(idHash);
    }
    this.#written.clear();
    this.#changed.clear();
    if (this.#stored.size <= KEPT_MAX) return;
    this.#knowsAll = false;
    this.#stored = new Set();
  }
}

import type { Database } from 'better-sqlite3';
import { type StoredId, sameId } from '../../ledger/contract-id.ts';
import { type FoldReader, prepareByFold, readByFold } from '../store/by-hash.ts';
import { prepareRowCount } from '../store/row-counts.ts';

interface Change {
  readonly migrationId: number;
  readonly id: StoredId;
  active: boolean;
}

/** So many folds are kept in memory; beyond them, those of a chunk are looked up. */
const KEPT_MAX = 65_536;

/**
 * Ids active now of coins and rounds that do not count. Anyone may make any number of them, so they stay on disk. There are few
 * unless somebody means harm: then all their folds are known, and nothing is looked up for the coins that do count.
 */
export class Counterfeits {
  readonly #byFold: FoldReader<{ h: number }>;
  readonly #exists;
  readonly #insert;
  readonly #delete;
  readonly #saveCount;
  #count: number;
  /** Folds that may be stored: all of them where `#knowsAll`, else those of the chunk that is being applied. */
  #stored: Set<number>;
  #knowsAll: boolean;
  /** What this batch changed, by fold. */
  readonly #changed = new Map<number, Change[]>();

  constructor(db: Database) {
    const folds = db
      .prepare<[number], number>('SELECT h FROM counterfeit LIMIT ?')
      .pluck()
      .all(KEPT_MAX + 1);
    this.#knowsAll = folds.length <= KEPT_MAX;
    this.#stored = new Set(this.#knowsAll ? folds : []);
    const count = db.prepare<[], number>('SELECT count(*) FROM counterfeit').pluck();
    this.#count = this.#knowsAll ? folds.length : count.get()!;
    this.#byFold = prepareByFold(db, { columns: 'h', table: 'counterfeit', key: 'h' });
    this.#exists = db
      .prepare<[number, number, StoredId], number>(
        'SELECT 1 FROM counterfeit WHERE h = ? AND migration_id = ? AND contract_id = ?',
      )
      .pluck();
    this.#insert = db.prepare('INSERT OR IGNORE INTO counterfeit VALUES (?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM counterfeit WHERE h = ? AND migration_id = ? AND contract_id = ?');
    this.#saveCount = prepareRowCount(db, 'counterfeit');
  }

  /** Reads which of these folds may be counterfeits, so that `has` needs no statement for the others. */
  fetch(folds: Float64Array): void {
    if (this.#knowsAll) return;
    this.#stored = new Set();
    readByFold(this.#byFold, folds, ({ h }) => this.#stored.add(h));
  }

  /** False for nearly every fold: then no id need be compared. */
  mayHave(fold: number): boolean {
    return this.#stored.has(fold) || this.#changed.has(fold);
  }

  has(fold: number, migrationId: number, id: StoredId): boolean {
    const change = this.#change(fold, migrationId, id);
    if (change !== undefined) return change.active;
    return this.#stored.has(fold) && this.#exists.get(fold, migrationId, id) === 1;
  }

  set(fold: number, migrationId: number, id: StoredId, active: boolean): void {
    const change = this.#change(fold, migrationId, id);
    if (change !== undefined) {
      change.active = active;
      return;
    }
    const others = this.#changed.get(fold) ?? [];
    this.#changed.set(fold, [...others, { migrationId, id, active }]);
  }

  #change(fold: number, migrationId: number, id: StoredId): Change | undefined {
    return this.#changed.get(fold)?.find((each) => each.migrationId === migrationId && sameId(each.id, id));
  }

  flush(): void {
    for (const [fold, changes] of this.#changed) {
      for (const { migrationId, id, active } of changes) {
        const { changes: rows } = (active ? this.#insert : this.#delete).run(fold, migrationId, id);
        this.#count += active ? rows : -rows;
      }
    }
    this.#saveCount(this.#count);
  }

  /** After the commit. A fold may be that of several ids. */
  settle(): void {
    for (const fold of this.#changed.keys()) {
      if (this.#byFold.one.get(fold) === undefined) this.#stored.delete(fold);
      else this.#stored.add(fold);
    }
    this.#changed.clear();
    if (this.#stored.size <= KEPT_MAX) return;
    this.#knowsAll = false;
    this.#stored = new Set();
  }
}

import type { Database } from 'better-sqlite3';
import { type StoredId, sameId } from '../ledger/pack/id.ts';
import { type FoldReader, prepareByFold, readByFold } from './by-fold.ts';
import { prepareRowCount } from './row-counts.ts';

interface Change {
  readonly migrationId: number;
  readonly id: StoredId;
  active: boolean;
}

/**
 * Ids active now of coins and rounds that do not count. Anyone may make any number of them, so they stay on disk; like contracts,
 * they are looked up by fold, for a whole chunk at once.
 */
export class Counterfeits {
  #stored: number;
  readonly #byFold: FoldReader<{ h: number }>;
  readonly #exists;
  readonly #insert;
  readonly #delete;
  readonly #saveCount;
  #fetched = new Set<number>();
  /** What this batch changed, by fold. */
  readonly #changed = new Map<number, Change[]>();

  constructor(db: Database) {
    this.#stored = db.prepare<[], number>('SELECT count(*) FROM counterfeit').pluck().get() ?? 0;
    this.#byFold = prepareByFold(db, 'SELECT h FROM counterfeit WHERE h');
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
    this.#fetched = new Set();
    if (this.#stored > 0) readByFold(this.#byFold, folds, ({ h }) => this.#fetched.add(h));
  }

  /** False for nearly every fold: then no id need be compared. */
  mayHave(fold: number): boolean {
    return this.#fetched.has(fold) || this.#changed.has(fold);
  }

  has(fold: number, migrationId: number, id: StoredId): boolean {
    const change = this.#change(fold, migrationId, id);
    if (change !== undefined) return change.active;
    return this.#fetched.has(fold) && this.#exists.get(fold, migrationId, id) === 1;
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
        this.#stored += active ? rows : -rows;
      }
    }
    this.#saveCount(this.#stored);
  }

  settle(): void {
    this.#changed.clear();
  }
}

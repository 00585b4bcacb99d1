import type { Database } from 'better-sqlite3';
import type { StoredId } from '../ledger/pack/id.ts';
import { keyOf } from './rounds.ts';

/** Ids active now of coins and rounds that do not count. Anyone may make any number of them, so they stay on disk. */
export class Counterfeits {
  #stored: number;
  readonly #exists;
  readonly #insert;
  readonly #delete;
  /** What this batch changed: true for an id that became active, false for one that was archived. */
  readonly #changed = new Map<string, { migrationId: number; id: StoredId; active: boolean }>();

  constructor(db: Database) {
    this.#stored = db.prepare<[], number>('SELECT count(*) FROM counterfeit').pluck().get() ?? 0;
    this.#exists = db.prepare<[number, StoredId], number>('SELECT 1 FROM counterfeit WHERE migration_id = ? AND contract_id = ?').pluck();
    this.#insert = db.prepare('INSERT OR IGNORE INTO counterfeit VALUES (?, ?)');
    this.#delete = db.prepare('DELETE FROM counterfeit WHERE migration_id = ? AND contract_id = ?');
  }

  has(migrationId: number, id: StoredId): boolean {
    if (this.#stored === 0 && this.#changed.size === 0) return false;
    return this.#changed.get(keyOf(migrationId, id))?.active ?? this.#exists.get(migrationId, id) === 1;
  }

  set(migrationId: number, id: StoredId, active: boolean): void {
    this.#changed.set(keyOf(migrationId, id), { migrationId, id, active });
  }

  flush(): void {
    for (const { migrationId, id, active } of this.#changed.values()) {
      const { changes } = (active ? this.#insert : this.#delete).run(migrationId, id);
      this.#stored += active ? changes : -changes;
    }
  }

  settle(): void {
    this.#changed.clear();
  }
}

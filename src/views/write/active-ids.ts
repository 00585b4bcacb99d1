import type { Database } from 'better-sqlite3';
import { HashIndex } from '../store/hash-index.ts';

/** How many contracts were read, and how long that took. */
export interface ActiveRead {
  readonly contracts: number;
  readonly ms: number;
}

/**
 * The numbers of all active coin contracts by the hash of their id, in memory: in a table of its own, every create and archive
 * would dirty a page. `held` stores the hashes, from which it is rebuilt.
 */
export class ActiveIds {
  readonly #numbers = new HashIndex();
  readonly #held;
  readonly #dataVersion;
  readonly #onRead: (read: ActiveRead) => void;
  /** The database's version when `held` was read; null where it must be read. */
  #readAt: number | null = null;

  constructor(db: Database, onRead: (read: ActiveRead) => void = () => {}) {
    this.#onRead = onRead;
    this.#held = db.prepare<[], [number, number]>('SELECT id_hash, no FROM held').raw();
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  }

  /** Reads `held` where this may not be what it says: at first, where a change broke off, where another connection has written. */
  refresh(): void {
    const version = this.#dataVersion.get()!;
    if (version === this.#readAt) return;
    const started = performance.now();
    this.#readAt = null;
    this.#numbers.clear();
    for (const [idHash, no] of this.#held.iterate()) this.#numbers.add(idHash, no);
    this.#readAt = version;
    this.#onRead({ contracts: this.#numbers.size, ms: performance.now() - started });
  }

  /** To be called where `held` was changed otherwise: it is read again. */
  forget(): void {
    this.#readAt = null;
  }

  /** Calls `take` with the number of every contract whose id has that hash; others may have it too. */
  each(idHash: number, take: (no: number) => void): void {
    const numbers = this.#numbers;
    for (let slot = numbers.first(idHash); slot >= 0; slot = numbers.next(idHash, slot)) take(numbers.number(slot));
  }

  /** Takes up what changed. To be called once the transaction that changed `held` is committed: one that fails has changed nothing. */
  change(takeUp: (numbers: HashIndex) => void): void {
    const version = this.#readAt;
    this.#readAt = null;
    takeUp(this.#numbers);
    this.#readAt = version;
  }
}

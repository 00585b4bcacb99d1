import type { Database } from 'better-sqlite3';
import { type StoredId, sameId, storedIdHash } from '../../ledger/contract-id.ts';
import { HashIndex } from '../store/hash-index.ts';
import { isStoredId } from './contract.ts';
import type { ItemsFound } from './items-found.ts';

/** The contracts in the rows of `held` and `spent` seen so far. */
export interface ContractsSeen {
  readonly numbers: NumbersSeen;
  readonly heldIds: HeldIds;
  readonly items: ItemsFound;
}

/** Which numbers of coin contracts were found: a bit for each number. */
export class NumbersSeen {
  readonly #bits: Uint8Array;
  readonly #next: bigint;

  constructor(next: bigint) {
    this.#next = next;
    this.#bits = new Uint8Array(Number(next / 8n) + 1);
  }

  /** Whether the number is from before the verification began: only these are checked. */
  covers(no: bigint): boolean {
    return no >= 0n && no < this.#next;
  }

  has(no: bigint): boolean {
    return (this.#bits[Number(no >> 3n)]! & (1 << Number(no & 7n))) !== 0;
  }

  add(no: bigint): void {
    const at = Number(no >> 3n);
    this.#bits[at] = this.#bits[at]! | (1 << Number(no & 7n));
  }
}

/** The contracts seen in `held`, by the hash of their id. Some 15 bytes each; the contract with such an id is read when needed. */
export class HeldIds {
  readonly #numbers = new HashIndex();
  readonly #idIfHeld;

  constructor(db: Database) {
    this.#idIfHeld = db
      .prepare<[number, number], unknown>(
        `SELECT c.contract_id FROM holding c JOIN owner o ON o.id = c.owner
           JOIN held e ON e.owner = c.owner AND e.created_at = c.created_at AND e.no = c.no
         WHERE c.no = ? AND o.migration_id = ?`,
      )
      .pluck();
  }

  add(id: StoredId, migrationId: number, no: bigint): void {
    this.#numbers.add(storedIdHash(id, migrationId), Number(no));
  }

  /** The number of one of them that has that id, and is held at this moment; null for none. */
  find(id: StoredId, migrationId: number): number | null {
    const numbers = this.#numbers;
    const hash = storedIdHash(id, migrationId);
    for (let slot = numbers.first(hash); slot >= 0; slot = numbers.next(hash, slot)) {
      const no = numbers.number(slot);
      const other = this.#idIfHeld.get(no, migrationId);
      if (isStoredId(other) && sameId(other, id)) return no;
    }
    return null;
  }
}

import type { Database } from 'better-sqlite3';
import type { ContractEvent } from '../../feed/decoded-batch.ts';
import { idText, type StoredId, storedId, storedIdHash } from '../../ledger/contract-id.ts';
import type { OpenRound } from '../../ledger/update.ts';
import { type KeyReader, prepareByKey, readByKey } from '../store/by-key.ts';

/** An open mining round active now. */
export interface ActiveRound {
  readonly idHash: number;
  readonly migrationId: number;
  readonly contractId: string;
  readonly number: bigint;
  readonly content: string;
}

/** Open mining rounds active now: about three a migration, so all are kept in memory. */
export class Rounds {
  readonly #active: ActiveRound[];
  readonly #insert;
  readonly #delete;
  #added: ActiveRound[] = [];
  #removed: ActiveRound[] = [];

  constructor(db: Database) {
    const rows = db
      .prepare<[], { migrationId: bigint; contractId: StoredId; number: bigint; content: string }>(
        'SELECT migration_id AS migrationId, contract_id AS contractId, number, content FROM round',
      )
      .safeIntegers()
      .all();
    this.#active = rows.map((row) => {
      const migrationId = Number(row.migrationId);
      const idHash = storedIdHash(row.contractId, migrationId);
      return { ...row, migrationId, contractId: idText(row.contractId), idHash };
    });
    this.#insert = db.prepare('INSERT INTO round VALUES (?, ?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM round WHERE migration_id = ? AND contract_id = ?');
  }

  /** The active round that an event names; nearly always the hash shows that there is none. */
  find({ idHash, contractId }: ContractEvent, migrationId: number): ActiveRound | undefined {
    for (const round of this.#active) {
      if (round.idHash === idHash && round.migrationId === migrationId && round.contractId === contractId) return round;
    }
    return undefined;
  }

  add({ idHash, contractId }: ContractEvent, migrationId: number, { round: number, content }: OpenRound): void {
    const round = { idHash, migrationId, contractId, number, content };
    this.#active.push(round);
    this.#added.push(round);
  }

  remove(round: ActiveRound): void {
    this.#active.splice(this.#active.indexOf(round), 1);
    const added = this.#added.indexOf(round);
    if (added >= 0) this.#added.splice(added, 1);
    else this.#removed.push(round);
  }

  flush(): void {
    for (const round of this.#removed) this.#delete.run(round.migrationId, storedId(round.contractId));
    for (const { migrationId, contractId, number, content } of this.#added)
      this.#insert.run(migrationId, storedId(contractId), number, content);
  }

  afterCommit(): void {
    this.#added = [];
    this.#removed = [];
  }
}

interface Change {
  readonly migrationId: number;
  readonly contractId: string;
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

  /** Whether the contract that an event names is an active counterfeit; nearly always the hash is enough. */
  has({ idHash, contractId }: ContractEvent, migrationId: number): boolean {
    // Usually there are none at all.
    if (this.#stored.size + this.#changed.size === 0) return false;
    const change = this.#change(idHash, migrationId, contractId);
    if (change !== undefined) return change.active;
    return this.#stored.has(idHash) && this.#exists.get(idHash, migrationId, storedId(contractId)) === 1;
  }

  set({ idHash, contractId }: ContractEvent, migrationId: number, active: boolean): void {
    const change = this.#change(idHash, migrationId, contractId);
    if (change !== undefined) {
      change.active = active;
      return;
    }
    const others = this.#changed.get(idHash) ?? [];
    this.#changed.set(idHash, [...others, { migrationId, contractId, active }]);
  }

  #change(idHash: number, migrationId: number, contractId: string): Change | undefined {
    return this.#changed
      .get(idHash)
      ?.find((each) => each.migrationId === migrationId && each.contractId === contractId);
  }

  flush(): void {
    for (const [idHash, changes] of this.#changed) {
      for (const { migrationId, contractId, active } of changes)
        (active ? this.#insert : this.#delete).run(idHash, migrationId, storedId(contractId));
      this.#written.set(idHash, this.#byHash.one.get(idHash) !== undefined);
    }
  }

  /** Called after the commit. */
  afterCommit(): void {
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

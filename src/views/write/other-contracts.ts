import type { Database } from 'better-sqlite3';
import type { ContractEvent } from '../../feed/decoded-batch.ts';
import { idText, type StoredId, storedId, storedIdHash } from '../../ledger/ledger-ids.ts';
import type { OpenRound } from '../../ledger/update.ts';
import { COUNTERFEIT_HASHES_MAX } from './contracts.ts';

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
  readonly idHash: number;
  readonly migrationId: number;
  readonly contractId: string;
  readonly active: boolean;
}

/** Active ids of coins and rounds that do not count. Anyone may create any number of them, so they stay on disk. */
export class Counterfeits {
  readonly #exists;
  readonly #insert;
  readonly #delete;
  readonly #hashes: Set<number>;
  /** This batch's changes, by migration and contract id. */
  readonly #changed = new Map<string, Change>();

  /** `hashes`: those of `ActiveIds`. */
  constructor(db: Database, hashes: Set<number>) {
    this.#hashes = hashes;
    this.#exists = db
      .prepare<[number, number, StoredId], number>(
        'SELECT 1 FROM counterfeit WHERE h = ? AND migration_id = ? AND contract_id = ?',
      )
      .pluck();
    this.#insert = db.prepare('INSERT OR IGNORE INTO counterfeit VALUES (?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM counterfeit WHERE h = ? AND migration_id = ? AND contract_id = ?');
  }

  /** Whether the contract that an event names is an active counterfeit. */
  has({ idHash, contractId }: ContractEvent, migrationId: number): boolean {
    const change = this.#changed.size === 0 ? undefined : this.#changed.get(`${migrationId} ${contractId}`);
    if (change !== undefined) return change.active;
    if (this.#hashes.size <= COUNTERFEIT_HASHES_MAX && !this.#hashes.has(idHash)) return false;
    return this.#exists.get(idHash, migrationId, storedId(contractId)) === 1;
  }

  set({ idHash, contractId }: ContractEvent, migrationId: number, active: boolean): void {
    this.#changed.set(`${migrationId} ${contractId}`, { idHash, migrationId, contractId, active });
  }

  flush(): void {
    for (const { idHash, migrationId, contractId, active } of this.#changed.values()) {
      (active ? this.#insert : this.#delete).run(idHash, migrationId, storedId(contractId));
      if (active && this.#hashes.size <= COUNTERFEIT_HASHES_MAX) this.#hashes.add(idHash);
    }
  }

  /** Called after the commit. */
  afterCommit(): void {
    this.#changed.clear();
  }
}

import type { Database } from 'better-sqlite3';
import type { ContractEvent } from '../../feed/event-columns.ts';
import { idText, type StoredId, storedId, storedIdHash } from '../../ledger/ledger-ids.ts';
import type { OpenRound } from '../../ledger/update.ts';
import { COUNTERFEIT_HASHES_MAX } from './contracts.ts';

interface ActiveRound extends OpenRound, Pick<ContractEvent, 'idHash' | 'contractId'> {
  readonly migrationId: number;
}

/** Open mining rounds active now: about three a migration, so all are kept in memory, and written again where one changed. */
export class Rounds {
  readonly #active: ActiveRound[];
  readonly #clear;
  readonly #insert;
  #changed = false;

  constructor(db: Database) {
    const rows = db
      .prepare<[], { migrationId: bigint; contractId: StoredId; round: bigint; content: string }>(
        'SELECT migration_id AS migrationId, contract_id AS contractId, number AS round, content FROM round',
      )
      .safeIntegers();
    this.#active = rows.all().map((row) => {
      const migrationId = Number(row.migrationId);
      const idHash = storedIdHash(row.contractId, migrationId);
      return { ...row, migrationId, contractId: idText(row.contractId), idHash };
    });
    this.#clear = db.prepare('DELETE FROM round');
    this.#insert = db.prepare('INSERT INTO round VALUES (?, ?, ?, ?)');
  }

  /** The active round that an event names; nearly always the hash shows that there is none. */
  find({ idHash, contractId }: ContractEvent, migrationId: number): ActiveRound | undefined {
    for (const round of this.#active) {
      if (round.idHash === idHash && round.migrationId === migrationId && round.contractId === contractId) return round;
    }
    return undefined;
  }

  add({ idHash, contractId }: ContractEvent, migrationId: number, { round, content }: OpenRound): void {
    this.#active.push({ idHash, migrationId, contractId, round, content });
    this.#changed = true;
  }

  remove(round: ActiveRound): void {
    this.#active.splice(this.#active.indexOf(round), 1);
    this.#changed = true;
  }

  flush(): void {
    if (!this.#changed) return;
    this.#clear.run();
    for (const { migrationId, contractId, round, content } of this.#active)
      this.#insert.run(migrationId, storedId(contractId), round, content);
  }

  afterCommit(): void {
    this.#changed = false;
  }
}

/** Active ids of coins and rounds that do not count. Anyone may create any number of them, so they stay on disk. */
export class Counterfeits {
  readonly #exists;
  readonly #insert;
  readonly #delete;
  readonly #hashes: Set<number>;
  /** This batch's changes, by migration and contract id. */
  readonly #changed = new Map<
    string,
    readonly [isActive: boolean, idHash: number, migrationId: number, id: StoredId]
  >();

  constructor(db: Database, hashes: Set<number>) {
    this.#hashes = hashes;
    const row = 'h = ? AND migration_id = ? AND contract_id = ?';
    this.#exists = db.prepare<[number, number, StoredId], number>(`SELECT 1 FROM counterfeit WHERE ${row}`).pluck();
    this.#insert = db.prepare('INSERT OR IGNORE INTO counterfeit VALUES (?, ?, ?)');
    this.#delete = db.prepare(`DELETE FROM counterfeit WHERE ${row}`);
  }

  has({ idHash, contractId }: ContractEvent, migrationId: number): boolean {
    if (this.#hashes.size <= COUNTERFEIT_HASHES_MAX && !this.#hashes.has(idHash)) return false;
    const change = this.#changed.get(`${migrationId} ${contractId}`);
    return change?.[0] ?? this.#exists.get(idHash, migrationId, storedId(contractId)) === 1;
  }

  set({ idHash, contractId }: ContractEvent, migrationId: number, isActive: boolean): void {
    this.#changed.set(`${migrationId} ${contractId}`, [isActive, idHash, migrationId, storedId(contractId)]);
    if (this.#hashes.size <= COUNTERFEIT_HASHES_MAX) this.#hashes.add(idHash);
  }

  flush(): void {
    for (const [isActive, ...row] of this.#changed.values()) (isActive ? this.#insert : this.#delete).run(...row);
  }

  afterCommit(): void {
    this.#changed.clear();
  }
}

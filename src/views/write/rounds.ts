import type { Database } from 'better-sqlite3';
import type { EventCursor } from '../../chunk/event-cursor.ts';
import { type StoredId, sameId, storedIdHash } from '../../ledger/contract-id.ts';
import type { OpenRound } from '../../ledger/update.ts';

/** An open mining round active now. */
export interface ActiveRound {
  readonly idHash: number;
  readonly migrationId: number;
  readonly contractId: StoredId;
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
      return { ...row, migrationId, idHash: storedIdHash(row.contractId, migrationId) };
    });
    this.#insert = db.prepare('INSERT INTO round VALUES (?, ?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM round WHERE migration_id = ? AND contract_id = ?');
  }

  /** The active round that an event names. For nearly every event the hash shows that there is none, and no id is created. */
  find(event: EventCursor, migrationId: number): ActiveRound | undefined {
    const { idHash } = event;
    for (const round of this.#active) {
      const mayBe = round.idHash === idHash && round.migrationId === migrationId;
      if (mayBe && sameId(round.contractId, event.contractId())) return round;
    }
    return undefined;
  }

  add(event: EventCursor, migrationId: number, { round: number, content }: OpenRound): void {
    const round = { idHash: event.idHash, migrationId, contractId: event.contractId(), number, content };
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
    for (const round of this.#removed) this.#delete.run(round.migrationId, round.contractId);
    for (const { migrationId, contractId, number, content } of this.#added)
      this.#insert.run(migrationId, contractId, number, content);
  }

  settle(): void {
    this.#added = [];
    this.#removed = [];
  }
}

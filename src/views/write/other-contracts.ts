import type { Database } from 'better-sqlite3';
import type { UpdateContent } from '../../feed/decoded-batch.ts';
import type { ArchivedContract, ContractEvent, UnreadableHolding } from '../../feed/event-columns.ts';
import { getOrMake } from '../../get-or-make.ts';
import { idText, type StoredId, storedId, storedIdHash } from '../../ledger/ledger-ids.ts';
import type { Micros } from '../../ledger/time.ts';
import type { OpenRound } from '../../ledger/update.ts';
import { UNCOUNTED_HASHES_MAX } from './contracts.ts';
import type { LaneState } from './positions.ts';
import type { MigrationState, WriterState } from './state.ts';

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

/** What an id that is active and does not count is: a counterfeit, or what is not followed; or why its views cannot be read. */
type Uncounted = 'counterfeit' | UnreadableHolding;

/** Active ids of coins, rounds and holdings that do not count. Anyone may create any number of them, so they stay on disk. */
export class UncountedIds {
  readonly #state: WriterState;
  readonly #stored;
  readonly #insertCounterfeit;
  readonly #insertUnreadable;
  readonly #delete;
  readonly #hashes: Set<number>;
  /** This batch's changes, by migration and contract id. `stored`: in which table it is. */
  readonly #changed = new Map<
    string,
    { readonly row: readonly [number, number, StoredId]; readonly stored: UncountedKind | null; now: Uncounted | null }
  >();

  constructor(db: Database, state: WriterState, hashes: Set<number>) {
    this.#state = state;
    this.#hashes = hashes;
    const row = 'WHERE h = @h AND migration_id = @migrationId AND contract_id = @id';
    this.#stored = db
      .prepare<[{ h: number; migrationId: number; id: StoredId }], UncountedKind>(
        `SELECT 'counterfeit' FROM counterfeit ${row} UNION ALL SELECT 'unreadable' FROM unreadable ${row}`,
      )
      .pluck();
    this.#insertCounterfeit = db.prepare('INSERT INTO counterfeit VALUES (?, ?, ?)');
    this.#insertUnreadable = db.prepare('INSERT INTO unreadable VALUES (?, ?, ?, ?, ?, ?)');
    const key = 'WHERE h = ? AND migration_id = ? AND contract_id = ?';
    this.#delete = {
      counterfeit: db.prepare(`DELETE FROM counterfeit ${key}`),
      unreadable: db.prepare(`DELETE FROM unreadable ${key}`),
    };
  }

  has(event: ContractEvent, migrationId: number): boolean {
    return this.kindOf(event, migrationId) !== null;
  }

  kindOf({ idHash, contractId }: ContractEvent, migrationId: number): UncountedKind | null {
    if (this.#hashes.size <= UNCOUNTED_HASHES_MAX && !this.#hashes.has(idHash)) return null;
    const change = this.#changed.get(`${migrationId} ${contractId}`);
    if (change !== undefined) return kindIn(change.now);
    return this.#stored.get({ h: idHash, migrationId, id: storedId(contractId) }) ?? null;
  }

  set(event: ContractEvent, migrationId: number, now: Uncounted | null): void {
    const { idHash, contractId } = event;
    const before = this.kindOf(event, migrationId);
    this.#state.unreadable += Number(kindIn(now) === 'unreadable') - Number(before === 'unreadable');
    const row = [idHash, migrationId, storedId(contractId)] as const;
    const change = getOrMake(this.#changed, `${migrationId} ${contractId}`, () => ({ row, stored: before, now }));
    change.now = now;
    if (this.#hashes.size <= UNCOUNTED_HASHES_MAX) this.#hashes.add(idHash);
  }

  flush(): void {
    for (const { row, stored, now } of this.#changed.values()) {
      if (stored !== null) this.#delete[stored].run(...row);
      if (now === 'counterfeit') this.#insertCounterfeit.run(...row);
      else if (now !== null) this.#insertUnreadable.run(...row, now.templateId, now.reason, now.stakeholders.join('|'));
    }
  }

  afterCommit(): void {
    this.#changed.clear();
  }
}

type UncountedKind = 'counterfeit' | 'unreadable';

function kindIn(uncounted: Uncounted | null): UncountedKind | null {
  return uncounted === null || uncounted === 'counterfeit' ? uncounted : 'unreadable';
}

interface EarlyArchive {
  readonly event: ArchivedContract;
  readonly migrationId: number;
  readonly recordTime: Micros;
  readonly isStored: boolean;
}

/**
 * Archives of other templates that name nothing active. Where a source has several lanes, the create may come later, from another lane of
 * another synchronizer: so they are kept until all lanes have passed them.
 */
export class EarlyArchives {
  readonly #state: WriterState;
  readonly #kept = new Map<string, EarlyArchive>();
  /** Those that a create took. */
  #taken: EarlyArchive[] = [];
  readonly #insert;
  readonly #delete;

  constructor(db: Database, state: WriterState) {
    this.#state = state;
    const rows = db.prepare<[], { h: number; migrationId: number; id: StoredId; recordTime: Micros }>(
      'SELECT h, migration_id AS migrationId, contract_id AS id, record_time AS recordTime FROM early_archive',
    );
    for (const { h: idHash, migrationId, id, recordTime } of rows.all()) {
      const event = { kind: 'archive', entity: 'other template', contractId: idText(id), idHash, item: -1 } as const;
      this.#kept.set(`${migrationId} ${event.contractId}`, { event, migrationId, recordTime, isStored: true });
    }
    this.#insert = db.prepare('INSERT INTO early_archive VALUES (?, ?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM early_archive WHERE h = ? AND migration_id = ? AND contract_id = ?');
  }

  add(event: ArchivedContract, { recordTime, migrationId }: Pick<UpdateContent, 'recordTime' | 'migrationId'>): void {
    if (recordTime === null || this.#state.lanes.size < 2 || this.#lanes.length < 2) return;
    const key = `${migrationId} ${event.contractId}`;
    if (!this.#kept.has(key)) this.#kept.set(key, { event, migrationId, recordTime, isStored: false });
  }

  get #lanes(): LaneState[] {
    return [...this.#state.lanes.values()].filter(({ start }) => start !== null);
  }

  /** The archive that came before its create; null for none. */
  take({ contractId }: ContractEvent, migration: MigrationState): ArchivedContract | null {
    if (this.#kept.size === 0) return null;
    const key = `${migration.migrationId} ${contractId}`;
    const early = this.#kept.get(key);
    if (early === undefined || early.recordTime <= this.#passed(migration.migrationId)) return null;
    this.#kept.delete(key);
    this.#taken.push(early);
    return early.event;
  }

  /** Up to when all lanes were read. An update at or before a snapshot on the grid is refused, so that an idle lane holds up nothing for long. */
  #passed(migrationId: number): Micros {
    const { openSeq = 1, nextGrid = null } = this.#state.migrations.get(migrationId) ?? {};
    const sealed = nextGrid === null || openSeq === 1 ? -Infinity : nextGrid - this.#state.periodUs;
    const least = this.#lanes.reduce((least, { furthest }) => {
      if (furthest === null || furthest.migrationId < migrationId) return -Infinity;
      return furthest.migrationId > migrationId ? least : Math.min(least, furthest.recordTime);
    }, Infinity);
    return Math.max(sealed, least);
  }

  flush(): void {
    if (this.#kept.size + this.#taken.length === 0) return;
    const passed = new Map<number, Micros>();
    const row = ({ event, migrationId }: EarlyArchive) =>
      [event.idHash, migrationId, storedId(event.contractId)] as const;
    for (const [key, early] of this.#kept) {
      const { migrationId, recordTime, isStored } = early;
      if (recordTime > getOrMake(passed, migrationId, () => this.#passed(migrationId))) {
        if (isStored) continue;
        this.#insert.run(...row(early), recordTime);
        this.#kept.set(key, { ...early, isStored: true });
      } else {
        this.#kept.delete(key);
        this.#taken.push(early);
      }
    }
    for (const early of this.#taken) if (early.isStored) this.#delete.run(...row(early));
  }

  afterCommit(): void {
    this.#taken = [];
  }
}

import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { COIN_INSTRUMENT } from '../../ledger/templates.ts';
import { BulkRows } from '../store/stored-rows.ts';
import {
  INSTRUMENT_ROWS,
  type Instrument,
  type InstrumentRow,
  instrumentOf,
  type MigrationState,
  type WriterState,
} from './state.ts';

/** Whose tokens are counted, as one text: parties have no line ends. */
const ownerKey = ({ no }: Instrument, party: string): string => `${no}\n${party}`;

/**
 * The instruments of all migrations, read when first needed and then kept: accounts in memory refer to them. A registry pays for each
 * transaction that makes one.
 */
export class Instruments {
  readonly #state: WriterState;
  readonly #ofNo = new Map<number, Instrument>();
  readonly #ofName = new Map<MigrationState, Map<string, Instrument>>();
  readonly #byNo;
  readonly #byName;
  readonly #insert;
  readonly #supply: BulkRows;
  readonly #openAccounts;
  readonly #setOpen;
  readonly #unsetOpen;
  #nextNo: number;
  #added: Instrument[] = [];
  #supplies: [instrument: number, seq: number, ...supply: (number | string)[]][] = [];
  /** Of this batch, by owner. */
  readonly #open = new Map<string, { readonly row: [instrument: number, owner: string]; accounts: number }>();

  constructor(db: Database, state: WriterState) {
    this.#state = state;
    for (const { coin } of state.migrations.values()) if (coin !== null) this.#remember(coin);
    this.#byNo = db.prepare<[number], InstrumentRow>(`${INSTRUMENT_ROWS} WHERE id = ?`);
    this.#byName = db.prepare<[number, string, string], InstrumentRow>(
      `${INSTRUMENT_ROWS} WHERE migration_id = ? + 0 AND admin = ? || '' AND name = ? || ''`,
    );
    this.#nextNo = db.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM instrument').pluck().get()!;
    this.#insert = db.prepare('INSERT INTO instrument VALUES (?, ?, ?, ?)');
    this.#supply = BulkRows.inserting(db, 'INSERT OR REPLACE INTO supply', 6);
    const row = 'instrument = ? + 0 AND owner = ?';
    this.#openAccounts = db
      .prepare<[number, string], number>(`SELECT accounts FROM open_accounts WHERE ${row}`)
      .pluck();
    this.#setOpen = db.prepare('INSERT OR REPLACE INTO open_accounts VALUES (?, ?, ?)');
    this.#unsetOpen = db.prepare(`DELETE FROM open_accounts WHERE ${row}`);
  }

  #remember(instrument: Instrument): Instrument {
    const { no, migration, admin, name } = instrument;
    this.#ofNo.set(no, instrument);
    getOrMake(this.#ofName, migration, () => new Map<string, Instrument>()).set(`${admin}\n${name}`, instrument);
    return instrument;
  }

  ofNo(no: number): Instrument {
    const known = this.#ofNo.get(no);
    if (known !== undefined) return known;
    const row = this.#byNo.get(no);
    const migration = this.#state.migrations.get(row?.migrationId ?? -1);
    if (row === undefined || migration === undefined)
      throw new Error(`instrument ${no} of an account is not in views.db`);
    return this.#remember(instrumentOf(row, migration));
  }

  /** Undefined where the migration has had nothing of it. */
  find(migration: MigrationState, admin: string, name: string): Instrument | undefined {
    const known = this.#ofName.get(migration)?.get(`${admin}\n${name}`);
    if (known !== undefined) return known;
    const row = this.#byName.get(migration.migrationId, admin, name);
    return row && this.#remember(instrumentOf(row, migration));
  }

  ofName(migration: MigrationState, admin: string, name: string): Instrument {
    const known = this.find(migration, admin, name);
    if (known !== undefined) return known;
    const supply = { contracts: 0, owners: 0, unlocked: 0n, locked: 0n };
    const instrument = this.#remember({ no: this.#nextNo++, migration, admin, name, ...supply });
    this.#added.push(instrument);
    return instrument;
  }

  coinOf(migration: MigrationState): Instrument {
    migration.coin ??= this.ofName(migration, this.#state.dso!, COIN_INSTRUMENT);
    return migration.coin;
  }

  /** Whether tokens of an admin, named as the coin is, were ever counted. */
  hadCoinOf(admin: string): boolean {
    return [...this.#state.migrations.values()].some((each) => this.find(each, admin, COIN_INSTRUMENT) !== undefined);
  }

  /** Notes that an account of a party has its first token of an instrument (1), or its last one no more (-1). */
  addOpenAccount(instrument: Instrument, party: string, change: 1 | -1): void {
    // No party owns the tokens of an account without an owner.
    if (party === '') return;
    const row: [number, string] = [instrument.no, party];
    const read = () => ({ row, accounts: this.#openAccounts.get(...row) ?? 0 });
    const open = getOrMake(this.#open, ownerKey(instrument, party), read);
    open.accounts += change;
    if (open.accounts === (change === 1 ? 1 : 0)) instrument.owners += change;
  }

  queueSupply({ no, contracts, owners, unlocked, locked }: Instrument, seq: number): void {
    this.#supplies.push([no, seq, contracts, owners, unlocked.toString(), locked.toString()]);
  }

  flush(): void {
    for (const { no, migration, admin, name } of this.#added) this.#insert.run(no, migration.migrationId, admin, name);
    for (const row of this.#supplies) this.#supply.add(...row);
    this.#supply.finish();
    for (const { row, accounts } of this.#open.values())
      if (accounts > 0) this.#setOpen.run(...row, accounts);
      else this.#unsetOpen.run(...row);
  }

  afterCommit(): void {
    this.#added = [];
    this.#supplies = [];
    this.#open.clear();
  }
}

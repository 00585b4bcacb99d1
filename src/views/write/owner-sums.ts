import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { COIN_INSTRUMENT } from '../../ledger/templates.ts';
import { type EpochBits, epochBitsOf, epochsDown, NO_EPOCHS } from '../store/account-epochs.ts';
import { rowOrder } from '../store/row-order.ts';
import { BulkRows, decodeVersion, encodeVersion, NO_SUMS, noSums, type Sums } from '../store/stored-rows.ts';
import type { Epochs } from './epochs.ts';
import type { MigrationState, WriterState } from './state.ts';

/** An owner in one migration, that is an account of the coin, with the sums of the open interval. */
export interface Owner {
  readonly no: number;
  readonly migration: MigrationState;
  /** Null until it is needed: see Owners.partyOf. */
  party: string | null;
  unlocked: Sums;
  locked: Sums;
  epochs: EpochBits;
  /** Whether the sums changed since a version was last written or queued. */
  dirty: boolean;
  /** Whether the update that is being applied changes them. */
  touched: boolean;
  /** Whether the batch has needed it. */
  used: boolean;
}

type LoadedOwner = Pick<Owner, 'no' | 'migration' | 'party' | 'epochs' | 'unlocked' | 'locked'>;

interface AccountRow {
  /** Its instrument. */
  readonly coin: number;
  readonly party: string;
  readonly epochs: EpochBits;
}

const NO_TOTALS = { unlocked: NO_SUMS, locked: NO_SUMS };

/** The sums of one kind of an owner's coin, to be changed. */
export function sumsOf(owner: Owner, kind: 'locked' | 'unlocked'): Sums {
  if (owner[kind] === NO_SUMS) owner[kind] = noSums();
  return owner[kind];
}

/** With more owners than these, those that the last batch did not need are dropped: between batches every change is in the database. */
const OWNERS_MAX = 50_000;

/** Owners by party and by number: a bounded cache over `account` and `total`. */
export class Owners {
  readonly #state: WriterState;
  readonly #epochs: Epochs;
  readonly #ownersMax: number;
  readonly #byParty;
  readonly #byNo;
  readonly #version;
  readonly #insertInstrument;
  readonly #insertAccount: BulkRows;
  readonly #insertSupply: BulkRows;
  readonly #insertVersion: BulkRows;
  readonly #ofNo = new Map<number, Owner>();
  readonly #dropped = new DroppedOwners();
  readonly #ofParty = new Map<MigrationState, Map<string, Owner>>();
  #nextInstrument: number;
  #addedCoins: MigrationState[] = [];
  #added: Owner[] = [];
  #supplies: [instrument: number, seq: number, ...supply: (number | string)[]][] = [];
  #dirty = new Map<MigrationState, Owner[]>();
  /** Rows of `total`; `v` with a character for each byte, which takes less memory than a Buffer for each. */
  #versions: { readonly epoch: number; readonly owner: number; readonly seq: number; readonly v: string }[] = [];

  constructor(db: Database, { state, epochs }: { state: WriterState; epochs: Epochs }, ownersMax: number = OWNERS_MAX) {
    this.#state = state;
    this.#epochs = epochs;
    this.#ownersMax = ownersMax;
    this.#byParty = db
      .prepare<[number, string], number>(
        `SELECT id FROM account WHERE instrument = ? + 0 AND owner = ? || '' AND provider = '' AND account_id = ''`,
      )
      .pluck();
    // Without a join: it costs as much again.
    this.#byNo = db.prepare<[number], AccountRow>(
      `SELECT instrument AS coin, owner AS party, ${epochBitsOf('account.id')} AS epochs FROM account WHERE account.id = ? + 0`,
    );
    this.#version = db
      .prepare<[number, number], Buffer>(
        'SELECT v FROM total WHERE epoch = ? + 0 AND account = ? + 0 ORDER BY seq DESC LIMIT 1',
      )
      .pluck();
    this.#nextInstrument = db.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM instrument').pluck().get()!;
    this.#insertInstrument = db.prepare('INSERT INTO instrument VALUES (?, ?, ?, ?)');
    this.#insertAccount = BulkRows.inserting(db, 'INSERT INTO account', 5);
    this.#insertSupply = BulkRows.inserting(db, 'INSERT OR REPLACE INTO supply', 6);
    this.#insertVersion = BulkRows.inserting(db, 'INSERT OR REPLACE INTO total', 4);
  }

  /** The owner of that name, numbered by first appearance in the feed. */
  ofParty(migration: MigrationState, party: string): Owner {
    const known = this.find(migration, party);
    if (known !== undefined) return known;
    if (migration.coin === null) {
      migration.coin = this.#nextInstrument++;
      this.#addedCoins.push(migration);
    }
    const no = this.#state.nextAccount++;
    const owner = this.#remember({ ...NO_TOTALS, no, migration, party, epochs: NO_EPOCHS });
    this.#added.push(owner);
    return owner;
  }

  /** The owner of that name; undefined where the migration has had no coin of it. */
  find(migration: MigrationState, party: string): Owner | undefined {
    const known = this.#ofParty.get(migration)?.get(party);
    if (known !== undefined) return known;
    const no = migration.coin === null ? undefined : this.#byParty.get(migration.coin, party);
    if (no === undefined) return undefined;
    const owner = this.ofNo(no);
    owner.party ??= party;
    this.#named(owner.migration).set(party, owner);
    return owner;
  }

  ofNo(no: number): Owner {
    const known = this.#ofNo.get(no);
    if (known !== undefined) return known;
    const dropped = this.#dropped.get(no);
    if (dropped !== null)
      return this.#remember({ ...dropped, no, party: null, migration: this.#migrationOf(dropped, no) });
    const { party, ...row } = this.#stored(no);
    const owner = this.#remember({ ...NO_TOTALS, ...row, no, party, migration: this.#migrationOf(row, no) });
    for (const epoch of epochsDown(row.epochs, Infinity)) {
      const v = this.#version.get(epoch, no);
      if (v !== undefined) return Object.assign(owner, decodeVersion(v));
    }
    return owner;
  }

  /** Looked up where an owner was found by its number only. */
  partyOf(owner: Owner): string {
    if (owner.party === null) {
      owner.party = this.#stored(owner.no).party;
      this.#named(owner.migration).set(owner.party, owner);
    }
    return owner.party;
  }

  #stored(no: number): AccountRow {
    const row = this.#byNo.get(no);
    if (row === undefined) throw new Error(`account ${no} of a holding is not in views.db`);
    return row;
  }

  #migrationOf({ coin }: Pick<AccountRow, 'coin'>, no: number): MigrationState {
    for (const migration of this.#state.migrations.values()) if (migration.coin === coin) return migration;
    throw new Error(`account ${no} of a holding is of no migration in views.db`);
  }

  #named(migration: MigrationState): Map<string, Owner> {
    return getOrMake(this.#ofParty, migration, () => new Map());
  }

  #remember({ no, migration, party, epochs, unlocked, locked }: LoadedOwner): Owner {
    const owner = { no, migration, party, unlocked, locked, epochs, dirty: false, touched: false, used: true };
    this.#ofNo.set(no, owner);
    if (party !== null) this.#named(migration).set(party, owner);
    return owner;
  }

  /** Called at each create and archive: the owner gets a version in the open interval. */
  touch(owner: Owner): void {
    if (owner.dirty) return;
    owner.dirty = true;
    owner.used = true;
    getOrMake(this.#dirty, owner.migration, () => []).push(owner);
  }

  /** Queues a version of every owner changed in the migration's open interval, and one of its supply. */
  queueVersions(migration: MigrationState): void {
    const dirty = this.#dirty.get(migration);
    if (dirty === undefined) return;
    const { coin, openSeq, contracts, owners, unlocked, locked } = migration;
    this.#supplies.push([coin!, openSeq, contracts, owners, unlocked.toString(), locked.toString()]);
    const epoch = this.#epochs.ofInterval(migration, openSeq);
    for (const owner of dirty) {
      this.#epochs.addAccount(owner, epoch);
      const v = encodeVersion(owner.unlocked, owner.locked).toString('latin1');
      this.#versions.push({ epoch, owner: owner.no, seq: openSeq, v });
      owner.dirty = false;
    }
    this.#dirty.delete(migration);
  }

  /** Writes new owners and all versions, those of the open intervals included; inside the batch's transaction. */
  flush(): void {
    for (const migration of [...this.#dirty.keys()]) this.queueVersions(migration);
    for (const { coin, migrationId } of this.#addedCoins)
      this.#insertInstrument.run(coin, migrationId, this.#state.dso, COIN_INSTRUMENT);
    for (const { no, migration, party } of this.#added) this.#insertAccount.add(no, migration.coin!, party!, '', '');
    this.#insertAccount.finish();
    for (const row of this.#supplies) this.#insertSupply.add(...row);
    this.#insertSupply.finish();
    const order = rowOrder(
      this.#versions,
      ({ epoch }) => epoch,
      ({ owner }) => owner,
    );
    for (const i of order) {
      const { epoch, owner, seq, v } = this.#versions[i]!;
      this.#insertVersion.add(epoch, owner, seq, Buffer.from(v, 'latin1'));
    }
    this.#insertVersion.finish();
  }

  afterCommit(): void {
    this.#addedCoins = [];
    this.#added = [];
    this.#supplies = [];
    this.#versions = [];
    if (this.#ofNo.size <= this.#ownersMax) return;
    for (const owner of this.#ofNo.values()) {
      const { no, party, migration, used } = owner;
      if (used) continue;
      this.#dropped.set(no, { ...owner, coin: migration.coin! });
      this.#ofNo.delete(no);
      if (party !== null) this.#named(migration).delete(party);
    }
    for (const owner of this.#ofNo.values()) owner.used = false;
  }
}

/** What views.db has of an owner, without its party. */
interface DroppedOwner {
  /** The instrument of its account. */
  readonly coin: number;
  readonly epochs: EpochBits;
  readonly unlocked: Sums;
  readonly locked: Sums;
}

/** Owners in one piece of memory. */
const OWNERS_AT_ONCE = 16_384;
/** Of a million owners 64 MiB; those numbered later are read from views.db. */
const DROPPED_MAX = 64 * OWNERS_AT_ONCE;
const OWNER_BYTES = 64;
/** Of an owner: how many bytes its epochs and its version have, where nothing is kept 0; and its instrument. */
const [EPOCHS_LENGTH, VERSION_LENGTH, COIN, BYTES] = [0, 1, 2, 6] as const;

/**
 * Owners by number in 64 bytes each, where an object takes a kilobyte. A history has more owners than are kept as objects: what is
 * here need not be read from three tables.
 */
class DroppedOwners {
  readonly #pieces: Buffer[] = [];

  set(no: number, { coin, epochs, unlocked, locked }: DroppedOwner): void {
    if (no >= DROPPED_MAX) return;
    const [piece, at] = this.#placeOf(no);
    const version = encodeVersion(unlocked, locked);
    const epochsLength = epochs.length / 2;
    const isSmall = BYTES + epochsLength + version.length <= OWNER_BYTES;
    piece[at + VERSION_LENGTH] = isSmall ? version.length : 0;
    if (!isSmall) return;
    piece[at + EPOCHS_LENGTH] = epochsLength;
    piece.writeUInt32LE(coin, at + COIN);
    piece.write(epochs, at + BYTES, 'hex');
    version.copy(piece, at + BYTES + epochsLength);
  }

  get(no: number): DroppedOwner | null {
    if (no >= DROPPED_MAX) return null;
    const [piece, at] = this.#placeOf(no);
    const length = piece[at + VERSION_LENGTH]!;
    if (length === 0) return null;
    const coin = piece.readUInt32LE(at + COIN);
    const begin = at + BYTES + piece[at + EPOCHS_LENGTH]!;
    const epochs = piece.toString('hex', at + BYTES, begin).toUpperCase();
    return { coin, epochs, ...decodeVersion(piece.subarray(begin, begin + length)) };
  }

  #placeOf(no: number): [piece: Buffer, at: number] {
    const at = Math.floor(no / OWNERS_AT_ONCE);
    while (this.#pieces.length <= at) this.#pieces.push(Buffer.alloc(OWNERS_AT_ONCE * OWNER_BYTES));
    return [this.#pieces[at]!, (no % OWNERS_AT_ONCE) * OWNER_BYTES];
  }
}

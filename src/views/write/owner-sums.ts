import type { Database } from 'better-sqlite3';
import { getOrMake } from '../../get-or-make.ts';
import { type EpochBits, epochBitsOf, epochsDown, NO_EPOCHS } from '../store/account-epochs.ts';
import { rowOrder } from '../store/row-order.ts';
import { BulkRows, decodeVersion, encodeVersion, NO_SUMS, noSums, type Sums } from '../store/stored-rows.ts';
import type { Epochs } from './epochs.ts';
import type { Instruments } from './instruments.ts';
import type { Instrument, MigrationState, WriterState } from './state.ts';

/** An account in one migration, that is an owner of the coin or an account of a token, with the sums of the open interval. */
export interface Owner {
  readonly no: number;
  readonly migration: MigrationState;
  readonly instrument: Instrument;
  /** As `accountName` writes it: of the coin the party. Null until it is needed: see Owners.partyOf. */
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

type LoadedOwner = Pick<Owner, 'no' | 'instrument' | 'party' | 'epochs' | 'unlocked' | 'locked'>;

interface AccountRow extends Account {
  readonly instrument: number;
  readonly epochs: EpochBits;
}

/** Whose tokens of an instrument are added up; owner and provider are empty for none. */
export type Account = Readonly<Record<'owner' | 'provider' | 'accountId', string>>;

/** An account as one text: parties have no line ends. */
function accountName({ owner, provider, accountId }: Account): string {
  return provider === '' && accountId === '' ? owner : `${owner}\n${provider}\n${accountId}`;
}

function accountNamed(name: string): Account {
  const [owner = '', provider = '', ...id] = name.split('\n');
  return { owner, provider, accountId: id.join('\n') };
}

export function isToken({ instrument, migration }: Pick<Owner, 'instrument' | 'migration'>): boolean {
  return instrument !== migration.coin;
}

const NO_TOTALS = { unlocked: NO_SUMS, locked: NO_SUMS };

/** The sums of one kind of an account's contracts, to be changed. */
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
  readonly #instruments: Instruments;
  readonly #ownersMax: number;
  readonly #byName;
  readonly #byNo;
  readonly #version;
  readonly #insertAccount: BulkRows;
  readonly #insertVersion: BulkRows;
  readonly #ofNo = new Map<number, Owner>();
  readonly #dropped = new DroppedOwners();
  readonly #ofName = new Map<Instrument, Map<string, Owner>>();
  #added: Owner[] = [];
  #dirty = new Map<MigrationState, Owner[]>();
  /** Rows of `total`; `v` with a character for each byte, which takes less memory than a Buffer for each. */
  #versions: { readonly epoch: number; readonly owner: number; readonly seq: number; readonly v: string }[] = [];

  constructor(
    db: Database,
    { state, epochs, instruments }: { state: WriterState; epochs: Epochs; instruments: Instruments },
    ownersMax: number = OWNERS_MAX,
  ) {
    this.#state = state;
    this.#epochs = epochs;
    this.#instruments = instruments;
    this.#ownersMax = ownersMax;
    this.#byName = db
      .prepare<[number, string, string, string], number>(
        `SELECT id FROM account WHERE instrument = ? + 0 AND owner = ? || '' AND provider = ? || '' AND account_id = ? || ''`,
      )
      .pluck();
    // Without a join: it costs as much again.
    this.#byNo = db.prepare<[number], AccountRow>(
      `SELECT instrument, owner, provider, account_id AS accountId, ${epochBitsOf('account.id')} AS epochs FROM account WHERE account.id = ? + 0`,
    );
    this.#version = db
      .prepare<[number, number], Buffer>(
        'SELECT v FROM total WHERE epoch = ? + 0 AND account = ? + 0 ORDER BY seq DESC LIMIT 1',
      )
      .pluck();
    this.#insertAccount = BulkRows.inserting(db, 'INSERT INTO account', 5);
    this.#insertVersion = BulkRows.inserting(db, 'INSERT OR REPLACE INTO total', 4);
  }

  /** The owner of that name, numbered by first appearance in the feed. */
  ofParty(migration: MigrationState, party: string): Owner {
    return this.#ofInstrument(this.#instruments.coinOf(migration), party);
  }

  /** The account of that name, numbered in the same way. */
  ofAccount(instrument: Instrument, account: Account): Owner {
    return this.#ofInstrument(instrument, accountName(account));
  }

  #ofInstrument(instrument: Instrument, party: string): Owner {
    const known = this.#find(instrument, party);
    if (known !== undefined) return known;
    const no = this.#state.nextAccount++;
    const owner = this.#remember({ ...NO_TOTALS, no, instrument, party, epochs: NO_EPOCHS });
    this.#added.push(owner);
    return owner;
  }

  /** The owner of that name; undefined where the migration has had no coin of it. */
  find({ coin }: MigrationState, party: string): Owner | undefined {
    return coin === null ? undefined : this.#find(coin, party);
  }

  #find(instrument: Instrument, party: string): Owner | undefined {
    const known = this.#ofName.get(instrument)?.get(party);
    if (known !== undefined) return known;
    const { owner, provider, accountId } = accountNamed(party);
    const no = this.#byName.get(instrument.no, owner, provider, accountId);
    if (no === undefined) return undefined;
    const found = this.ofNo(no);
    found.party ??= party;
    this.#named(instrument).set(party, found);
    return found;
  }

  ofNo(no: number): Owner {
    const known = this.#ofNo.get(no);
    if (known !== undefined) return known;
    const dropped = this.#dropped.get(no);
    if (dropped !== null)
      return this.#remember({ ...dropped, no, party: null, instrument: this.#instruments.ofNo(dropped.instrument) });
    const row = this.#stored(no);
    const [party, instrument] = [accountName(row), this.#instruments.ofNo(row.instrument)];
    const owner = this.#remember({ ...NO_TOTALS, ...row, no, party, instrument });
    for (const epoch of epochsDown(row.epochs, Infinity)) {
      const v = this.#version.get(epoch, no);
      if (v !== undefined) return Object.assign(owner, decodeVersion(v));
    }
    return owner;
  }

  /** Looked up where an owner was found by its number only. */
  partyOf(owner: Owner): string {
    if (owner.party === null) {
      owner.party = accountName(this.#stored(owner.no));
      this.#named(owner.instrument).set(owner.party, owner);
    }
    return owner.party;
  }

  accountOf(owner: Owner): Account {
    return accountNamed(this.partyOf(owner));
  }

  #stored(no: number): AccountRow {
    const row = this.#byNo.get(no);
    if (row === undefined) throw new Error(`account ${no} of a holding is not in views.db`);
    return row;
  }

  #named(instrument: Instrument): Map<string, Owner> {
    return getOrMake(this.#ofName, instrument, () => new Map());
  }

  #remember({ no, instrument, party, epochs, unlocked, locked }: LoadedOwner): Owner {
    const [{ migration }, fresh] = [instrument, { dirty: false, touched: false, used: true }];
    const owner = { no, migration, instrument, party, unlocked, locked, epochs, ...fresh };
    this.#ofNo.set(no, owner);
    if (party !== null) this.#named(instrument).set(party, owner);
    return owner;
  }

  /** Called at each create and archive: the owner gets a version in the open interval. */
  touch(owner: Owner): void {
    if (owner.dirty) return;
    owner.dirty = true;
    owner.used = true;
    getOrMake(this.#dirty, owner.migration, () => []).push(owner);
  }

  /** Queues a version of every owner changed in the migration's open interval, and one of the supply of each instrument. */
  queueVersions(migration: MigrationState): void {
    const dirty = this.#dirty.get(migration);
    if (dirty === undefined) return;
    const { openSeq } = migration;
    for (const instrument of new Set(dirty.map((owner) => owner.instrument)))
      this.#instruments.queueSupply(instrument, openSeq);
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
    for (const { no, instrument, party } of this.#added) {
      const { owner, provider, accountId } = accountNamed(party!);
      this.#insertAccount.add(no, instrument.no, owner, provider, accountId);
    }
    this.#insertAccount.finish();
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
    this.#added = [];
    this.#versions = [];
    if (this.#ofNo.size <= this.#ownersMax) return;
    for (const owner of this.#ofNo.values()) {
      const { no, party, instrument, used } = owner;
      if (used) continue;
      this.#dropped.set(no, { ...owner, instrument: instrument.no });
      this.#ofNo.delete(no);
      if (party !== null) this.#named(instrument).delete(party);
    }
    for (const owner of this.#ofNo.values()) owner.used = false;
  }
}

/** What views.db has of an owner, without its party. */
interface DroppedOwner {
  readonly instrument: number;
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
const [EPOCHS_LENGTH, VERSION_LENGTH, INSTRUMENT, BYTES] = [0, 1, 2, 6] as const;

/**
 * Owners by number in 64 bytes each, where an object takes a kilobyte. A history has more owners than are kept as objects: what is
 * here need not be read from three tables.
 */
class DroppedOwners {
  readonly #pieces: Buffer[] = [];

  set(no: number, { instrument, epochs, unlocked, locked }: DroppedOwner): void {
    if (no >= DROPPED_MAX) return;
    const [piece, at] = this.#placeOf(no);
    const version = encodeVersion(unlocked, locked);
    const epochsLength = epochs.length / 2;
    const isSmall = BYTES + epochsLength + version.length <= OWNER_BYTES;
    piece[at + VERSION_LENGTH] = isSmall ? version.length : 0;
    if (!isSmall) return;
    piece[at + EPOCHS_LENGTH] = epochsLength;
    piece.writeUInt32LE(instrument, at + INSTRUMENT);
    piece.write(epochs, at + BYTES, 'hex');
    version.copy(piece, at + BYTES + epochsLength);
  }

  get(no: number): DroppedOwner | null {
    if (no >= DROPPED_MAX) return null;
    const [piece, at] = this.#placeOf(no);
    const length = piece[at + VERSION_LENGTH]!;
    if (length === 0) return null;
    const instrument = piece.readUInt32LE(at + INSTRUMENT);
    const begin = at + BYTES + piece[at + EPOCHS_LENGTH]!;
    const epochs = piece.toString('hex', at + BYTES, begin).toUpperCase();
    return { instrument, epochs, ...decodeVersion(piece.subarray(begin, begin + length)) };
  }

  #placeOf(no: number): [piece: Buffer, at: number] {
    const at = Math.floor(no / OWNERS_AT_ONCE);
    while (this.#pieces.length <= at) this.#pieces.push(Buffer.alloc(OWNERS_AT_ONCE * OWNER_BYTES));
    return [this.#pieces[at]!, (no % OWNERS_AT_ONCE) * OWNER_BYTES];
  }
}

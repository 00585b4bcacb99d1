import type { Database } from 'better-sqlite3';
import type { DecodedMessage } from '../../feed/decoded-batch.ts';
import type { ContractEvent, NewCoin, NewToken } from '../../feed/event-columns.ts';
import { type ComparedCoin, expiryOf } from '../../ledger/coin.ts';
import { idText, type StoredId } from '../../ledger/ledger-ids.ts';
import { type CoinRow, coinTerms, type SumTerms, unitsOf } from '../store/stored-rows.ts';
import type { Owner, Owners } from './owner-sums.ts';

/** A coin or token created in this batch, until it is written. */
export interface PendingCoin {
  readonly create: NewCoin | NewToken;
  /** The digest items of its batch of messages. */
  readonly items: Uint8Array;
  /** The update that created it: its number; of an import its id, null where that is not known. */
  readonly creator: number | string | null;
  /** The place of its effect in that update; NO_EFFECT of a token. */
  readonly effect: number;
  readonly no: number;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly template: number;
  /** The interval of its archive; 0 while active, -1 when archived in the interval of its creation. */
  archivedSeq: number;
}

export const NO_EFFECT = -1;

/** The part of a coin or token of an earlier batch that an archive needs. */
export interface StoredCoin extends ActiveTerms {
  readonly no: number;
  readonly idHash: number;
  readonly contractId: string;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly round: bigint;
  readonly createdAt: number;
  archivedSeq: number;
}

/** What is kept of a coin of an earlier batch that this one archived, until it is written. */
export type ArchivedCoin = Readonly<
  Pick<StoredCoin, 'no' | 'idHash' | 'owner' | 'createdSeq' | 'createdAt' | 'archivedSeq'> & { expiry: number | bigint }
>;

export interface ActiveTerms extends Omit<SumTerms, 'expiry'> {
  readonly locked: boolean;
}

export function isLocked({ kind }: NewCoin | NewToken): boolean {
  return kind === 'LockedAmulet' || kind === 'locked token';
}

export function isPending(coin: PendingCoin | StoredCoin): coin is PendingCoin {
  return 'create' in coin;
}

type HoldingRow = [bigint, bigint, bigint, bigint | Buffer, bigint | Buffer, bigint, bigint, string];

/** A contract id as `contractIdOf` reads it: a BLOB takes twice as long as its hex digits. */
const ID_TEXT = `iif(typeof(contract_id) = 'blob', hex(contract_id), ':' || contract_id)`;

/**
 * The active coins and tokens as one batch sees them: those in views.db with the batch's own changes. The contracts of a range of messages
 * are fetched at once, in key order, before its updates are applied.
 */
export class Contracts {
  readonly created: PendingCoin[] = [];
  readonly archived: ArchivedCoin[] = [];
  readonly #createdIndex = new HashIndex();
  readonly #fetched: StoredCoin[] = [];
  readonly #fetchedIndex = new HashIndex();
  readonly #archivedNos = new Set<number>();
  readonly #owners: Owners;
  readonly #active: ActiveIds;
  readonly #holding;
  readonly #coin;
  readonly #idText;
  readonly #spentIds;

  constructor(db: Database, owners: Owners, active: ActiveIds) {
    this.#owners = owners;
    this.#active = active;
    this.#coin = db
      .prepare<[number], CoinRow & { readonly createdAt: bigint; readonly creator: StoredId | bigint | null }>(
        `SELECT locked, owner, amount, rate, round, created_at AS createdAt, args AS extra, update_id AS creator
         FROM holding JOIN account ON account.id = account WHERE no = ? + 0`,
      )
      .safeIntegers();
    this.#holding = db
      .prepare<[number], HoldingRow>(
        `SELECT account, created_seq, locked, amount, rate, round, created_at, ${ID_TEXT} FROM holding WHERE no = ?`,
      )
      .raw()
      .safeIntegers();
    this.#idText = db.prepare<[number], string>(`SELECT ${ID_TEXT} FROM holding WHERE no = ?`).pluck();
    this.#spentIds = db
      .prepare<[number, number], string>(
        `SELECT ${ID_TEXT} FROM epoch CROSS JOIN spent ON epoch = epoch.no AND spent.account = ? + 0 AND archived_seq >= ? + 0
         JOIN holding ON holding.no = spent.no`,
      )
      .pluck();
  }

  /** Reads what is stored about the contracts that messages name, so that `find` needs no statement of its own. */
  fetch(messages: readonly DecodedMessage[]): void {
    this.#fetched.length = 0;
    this.#fetchedIndex.clear();
    this.#active.refresh();
    const wanted = new Map<number, number>();
    for (const { content } of messages)
      for (const { idHash } of content.kind === 'update' ? content.events : [])
        this.#active.each(idHash, (no) => {
          if (!this.#archivedNos.has(no)) wanted.set(no, idHash);
        });
    for (const no of Float64Array.from(wanted.keys()).sort()) {
      const row = this.#holding.get(no);
      if (row === undefined) continue;
      const [owner, createdSeq, locked, amount, storedRate, round, createdAt, idText] = row;
      const rate = unitsOf(storedRate);
      const coin: StoredCoin = {
        no,
        idHash: wanted.get(no)!,
        contractId: contractIdOf(idText),
        owner: this.#owners.ofNo(Number(owner)),
        createdSeq: Number(createdSeq),
        locked: locked === 1n,
        amount: unitsOf(amount),
        rate,
        rateRound: rate * round,
        round,
        createdAt: Number(createdAt),
        archivedSeq: 0,
      };
      this.#fetchedIndex.add(coin.idHash, this.#fetched.push(coin) - 1);
    }
  }

  /** The active coin with that event's id in that migration. */
  find(event: ContractEvent, migrationId: number): PendingCoin | StoredCoin | undefined {
    return (
      activeIn(this.#createdIndex, this.created, event, migrationId) ??
      activeIn(this.#fetchedIndex, this.#fetched, event, migrationId)
    );
  }

  /** Of a coin, and no token. */
  coinOf(coin: PendingCoin | StoredCoin): ComparedCoin {
    if (isPending(coin)) return comparedCoin(coin.create as NewCoin);
    const row = this.#rowOf(coin);
    return { ...coinTerms(row), createdAt: Number(row.createdAt) };
  }

  /** The update that created a contract, as `PendingCoin.creator`. */
  creatorOf(coin: PendingCoin | StoredCoin): number | string | null {
    if (isPending(coin)) return coin.creator;
    const { creator } = this.#rowOf(coin);
    return typeof creator === 'bigint' ? Number(creator) : creator && idText(creator);
  }

  #rowOf({ no }: StoredCoin) {
    const row = this.#coin.get(no);
    if (row === undefined) throw new Error(`holding ${no} is not in views.db`);
    return row;
  }

  /** Whether a contract of that owner with that event's id was archived in interval `from` or later, in one after that of its creation. */
  wasArchived({ idHash, contractId }: ContractEvent, owner: Owner, from: number): boolean {
    const isMeant = (coin: PendingCoin | ArchivedCoin): boolean =>
      coin.archivedSeq >= from && coin.owner.no === owner.no;
    if (this.created.some((coin) => isMeant(coin) && coin.create.contractId === contractId)) return true;
    const ofHash = this.archived.filter((coin) => coin.idHash === idHash && isMeant(coin));
    if (ofHash.some(({ no }) => contractIdOf(this.#idText.get(no)!) === contractId)) return true;
    for (const text of this.#spentIds.iterate(owner.no, from)) if (contractIdOf(text) === contractId) return true;
    return false;
  }

  add(coin: PendingCoin): void {
    this.#createdIndex.add(coin.create.idHash, this.created.push(coin) - 1);
  }

  archive(coin: PendingCoin | StoredCoin, seq: number): void {
    coin.archivedSeq = coin.createdSeq === seq ? -1 : seq;
    if (isPending(coin)) return;
    this.#archivedNos.add(coin.no);
    const { no, idHash, owner, createdSeq, createdAt, archivedSeq, amount, rate, round } = coin;
    const expiry = expiryOf({ amount, rate, createdRound: round });
    this.archived.push({ no, idHash, owner, createdSeq, createdAt, expiry, archivedSeq });
  }

  afterCommit(): void {
    this.#active.change((numbers) => {
      for (const { idHash, no } of this.archived) numbers.remove(idHash, no);
      for (const coin of this.created) if (isActive(coin)) numbers.add(coin.create.idHash, coin.no);
    });
    this.created.length = 0;
    this.archived.length = 0;
    this.#createdIndex.clear();
    this.#archivedNos.clear();
  }
}

/** The contract id of ID_TEXT: upper-case hex digits of a packed id, a colon and the id of any other. */
function contractIdOf(text: string): string {
  return text.startsWith(':') ? text.slice(1) : text.toLowerCase();
}

export function comparedCoin({ kind: entity, ...create }: NewCoin): ComparedCoin {
  return { entity, ...create };
}

export function isActive({ archivedSeq }: PendingCoin | StoredCoin): boolean {
  return archivedSeq === 0;
}

function activeIn<Coin extends PendingCoin | StoredCoin>(
  index: HashIndex,
  coins: readonly Coin[],
  { idHash, contractId }: ContractEvent,
  migrationId: number,
): Coin | undefined {
  for (let slot = index.first(idHash); slot >= 0; slot = index.next(idHash, slot)) {
    const coin = coins[index.number(slot)]!;
    if (!isActive(coin) || coin.owner.migration.migrationId !== migrationId) continue;
    if ((isPending(coin) ? coin.create.contractId : coin.contractId) === contractId) return coin;
  }
  return undefined;
}

/** With more than these, each id is looked up. */
export const UNCOUNTED_HASHES_MAX = 65_536;

/** Called when all were read: how many, and how long that took. */
export type OnActiveRead = (read: { readonly contracts: number; readonly ms: number }) => void;

/**
 * The numbers of all active coin contracts by the hash of their id, in memory: in a table of its own, every create and archive
 * would dirty a page. `held` stores the hashes, from which it is rebuilt.
 */
export class ActiveIds {
  /** The hashes of all that is stored and does not count, and of some that was: few, so that nothing is looked up for what counts. */
  readonly uncounted = new Set<number>();
  readonly #numbers = new HashIndex();
  readonly #held;
  readonly #uncounted;
  readonly #dataVersion;
  readonly #onRead: OnActiveRead;
  /** The database's version when `held` was read; null where it must be read. */
  #readAt: number | null = null;

  constructor(db: Database, onRead: OnActiveRead = () => {}) {
    this.#onRead = onRead;
    this.#held = db
      .prepare<[], [number, number]>(
        'SELECT id_hash, no FROM held WHERE NOT EXISTS (SELECT 1 FROM gone WHERE gone.no = held.no)',
      )
      .raw();
    this.#uncounted = db
      .prepare<[number], number>('SELECT h FROM counterfeit UNION SELECT h FROM unreadable ORDER BY h LIMIT ?')
      .pluck();
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
    this.uncounted.clear();
    for (const hash of this.#uncounted.iterate(UNCOUNTED_HASHES_MAX + 1)) this.uncounted.add(hash);
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

const CAPACITY_MIN = 4096;
/** A slot holds the number + 1 in 32 bits: at 150 bytes a contract, 600 GB of views. */
export const NUMBER_MAX = 2 ** 32 - 2;

/**
 * Finds whole numbers by id hash, without an object or a boxed number per entry: a hash table of two typed arrays, open
 * addressing, 11 to 21 bytes an entry. Only the low 32 bits of a hash are used, which spread well; a hash may have several
 * numbers, so callers compare the ids.
 */
export class HashIndex {
  /** Two words a slot, which are read together: the hash, and the number + 1, where 0 marks a free slot. */
  #slots = new Int32Array(CAPACITY_MIN * 2);
  #capacity = CAPACITY_MIN;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(idHash: number, number: number): void {
    if (!(number >= 0 && number <= NUMBER_MAX)) throw new RangeError(`number ${number}: expected 0 to ${NUMBER_MAX}`);
    if (this.#size * 4 >= this.#capacity * 3) this.#grow();
    this.#put(idHash | 0, (number + 1) | 0);
    this.#size += 1;
  }

  #put(hash: number, entry: number): void {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    let slot = hash & mask;
    while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = hash;
    slots[slot * 2 + 1] = entry;
  }

  /** Removes one entry, and moves up those after it that are there because its slot was taken. */
  remove(idHash: number, number: number): void {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    let free = this.first(idHash);
    while (free >= 0 && this.number(free) !== number) free = this.next(idHash, free);
    if (free < 0) throw new Error(`number ${number} is not in the index`);
    for (let slot = (free + 1) & mask; slots[slot * 2 + 1] !== 0; slot = (slot + 1) & mask) {
      const distance = (slot - slots[slot * 2]!) & mask;
      if (distance < ((slot - free) & mask)) continue;
      slots[free * 2] = slots[slot * 2]!;
      slots[free * 2 + 1] = slots[slot * 2 + 1]!;
      free = slot;
    }
    slots[free * 2 + 1] = 0;
    this.#size -= 1;
  }

  /** The slot of the first entry with that hash; -1 for none. */
  first(idHash: number): number {
    return this.#from(idHash | 0, idHash & (this.#capacity - 1));
  }

  next(idHash: number, slot: number): number {
    return this.#from(idHash | 0, (slot + 1) & (this.#capacity - 1));
  }

  number(slot: number): number {
    return (this.#slots[slot * 2 + 1]! - 1) >>> 0;
  }

  #from(hash: number, start: number): number {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    for (let slot = start; slots[slot * 2 + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[slot * 2] === hash) return slot;
    }
    return -1;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#slots.fill(0);
    this.#size = 0;
  }

  #grow(): void {
    const slots = this.#slots;
    const capacity = this.#capacity * 2;
    this.#slots = new Int32Array(capacity * 2);
    this.#capacity = capacity;
    for (let at = 0; at < slots.length; at += 2) if (slots[at + 1] !== 0) this.#put(slots[at]!, slots[at + 1]!);
  }
}

import type { Database } from 'better-sqlite3';
import { EventCursor } from '../../chunk/event-cursor.ts';
import type { EventRef } from '../../chunk/refs.ts';
import type { ComparedCoin } from '../../ledger/coin.ts';
import type { StoredId } from '../../ledger/contract-id.ts';
import { expiryOf } from '../../ledger/expiry.ts';
import { type KeyReader, prepareByKey, readByKey } from '../store/by-key.ts';
import { unitsOf } from '../store/columns.ts';
import { HashIndex } from '../store/hash-index.ts';
import type { SumTerms } from '../store/totals.ts';
import type { ActiveIds } from './active-ids.ts';
import type { Owner, Owners } from './owners.ts';
import { createCoinReader } from './stored-coin.ts';

/**
 * A coin created in this batch; its content stays in the chunk until it is written. With the ref of its create in it, because all of
 * a batch's wait for the commit: what is an object less for each is collected less often.
 */
export interface PendingCoin extends EventRef {
  readonly no: number;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly template: number;
  /** The interval of its archive; 0 while active, -1 when archived in the interval of its creation. */
  archivedSeq: number;
}

/** The part of a coin of an earlier batch that an archive needs. */
export interface StoredCoin extends ActiveTerms {
  readonly no: number;
  readonly idHash: number;
  /** Its contract id in the form of `EventCursor.hasIdText`. */
  readonly idText: string;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly round: bigint;
  readonly createdAt: number;
  archivedSeq: number;
}

/** What is kept of a coin of an earlier batch that this one archived, until it is written. */
export interface ArchivedCoin {
  readonly no: number;
  readonly idHash: number;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly createdAt: number;
  readonly expiry: number | bigint;
  readonly archivedSeq: number;
}

/** What an archive subtracts from the sums of the coin's owner. */
interface ActiveTerms extends Omit<SumTerms, 'expiry'> {
  readonly locked: boolean;
}

export function isPending(coin: PendingCoin | StoredCoin): coin is PendingCoin {
  return 'chunk' in coin;
}

type HoldingRow = [bigint, bigint, bigint, bigint, bigint | Buffer, bigint | Buffer, bigint, bigint, string];

/** A contract id in the form of `EventCursor.hasIdText`: reading a BLOB takes twice as long as its hex digits. */
const ID_TEXT = `iif(typeof(contract_id) = 'blob', hex(contract_id), ':' || contract_id)`;

/**
 * The active coins as one batch sees them: those in views.db with the batch's own changes. A chunk's contracts are fetched at
 * once, in key order, before its updates are applied.
 */
export class Contracts {
  readonly created: PendingCoin[] = [];
  readonly archived: ArchivedCoin[] = [];
  readonly #createdIndex = new HashIndex();
  readonly #fetched: StoredCoin[] = [];
  readonly #fetchedIndex = new HashIndex();
  /** Where the id hashes of the numbers to fetch are, each number by a hash of its own. */
  readonly #wanted = new HashIndex();
  /** The numbers of `archived`, each by a hash of its own. */
  readonly #archivedNos = new HashIndex();
  readonly #owners: Owners;
  readonly #active: ActiveIds;
  readonly #holding: KeyReader<HoldingRow>;
  readonly #readCoin: (no: number) => ComparedCoin;
  readonly #creator;
  readonly #idText;
  readonly #spentIds;
  readonly #create = new EventCursor();

  constructor(db: Database, owners: Owners, active: ActiveIds) {
    this.#owners = owners;
    this.#active = active;
    this.#readCoin = createCoinReader(db);
    const facts = `no, owner, created_seq, locked, amount, rate, round, created_at, ${ID_TEXT}`;
    this.#holding = prepareByKey(db, { columns: facts, table: 'holding', key: 'no' });
    this.#creator = db.prepare<[number], StoredId | null>('SELECT update_id FROM holding WHERE no = ?').pluck();
    this.#idText = db.prepare<[number], string>(`SELECT ${ID_TEXT} FROM holding WHERE no = ?`).pluck();
    this.#spentIds = db
      .prepare<[number, number], string>(
        `SELECT ${ID_TEXT} FROM spent JOIN holding USING (no) WHERE spent.owner = ? AND archived_seq >= ?`,
      )
      .pluck();
    for (const statement of [this.#holding.many, this.#holding.one]) statement.raw().safeIntegers();
  }

  /** Reads what is stored about contracts whose ids have these hashes, so that `find` needs no statement of its own. */
  fetch(idHashes: Float64Array): void {
    this.#fetched.length = 0;
    this.#fetchedIndex.clear();
    this.#active.refresh();
    const wanted = this.#wanted;
    wanted.clear();
    const nos: number[] = [];
    for (let i = 0; i < idHashes.length; i++) {
      const idHash = idHashes[i]!;
      this.#active.each(idHash, (no) => {
        const hash = spread(no);
        if (this.#archivedNos.first(hash) >= 0 || wanted.first(hash) >= 0) return;
        wanted.add(hash, i);
        nos.push(no);
      });
    }
    readByKey(
      this.#holding,
      Float64Array.from(nos).sort(),
      ([storedNo, owner, createdSeq, locked, amount, storedRate, round, createdAt, idText]) => {
        const [no, rate] = [Number(storedNo), unitsOf(storedRate)];
        const coin: StoredCoin = {
          no,
          idHash: idHashes[wanted.number(wanted.first(spread(no)))]!,
          idText,
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
      },
    );
  }

  /** The active coin with that event's id in that migration. */
  find(event: EventCursor, migrationId: number): PendingCoin | StoredCoin | undefined {
    const { idHash } = event;
    const created = this.#createdIndex;
    for (let slot = created.first(idHash); slot >= 0; slot = created.next(idHash, slot)) {
      const coin = this.created[created.number(slot)]!;
      if (isActiveIn(coin, migrationId) && event.hasIdOf(coin)) return coin;
    }
    const fetched = this.#fetchedIndex;
    for (let slot = fetched.first(idHash); slot >= 0; slot = fetched.next(idHash, slot)) {
      const coin = this.#fetched[fetched.number(slot)]!;
      if (isActiveIn(coin, migrationId) && event.hasIdText(coin.idText)) return coin;
    }
    return undefined;
  }

  /** To be used at once: the next call may change the object returned. */
  termsOf(coin: PendingCoin | StoredCoin): ActiveTerms {
    return isPending(coin) ? this.#create.moveTo(coin) : coin;
  }

  /** The create of a coin of this batch; to be used at once, as `termsOf`. */
  createOf(coin: PendingCoin): EventCursor {
    return this.#create.moveTo(coin);
  }

  /** The content of an active contract's create. */
  coinOf(coin: PendingCoin | StoredCoin): ComparedCoin {
    return isPending(coin) ? this.#create.moveTo(coin).coin() : this.#readCoin(coin.no);
  }

  /** The update that created a contract; null for an import whose update is not known. */
  creatorOf(coin: PendingCoin | StoredCoin): StoredId | null {
    return isPending(coin) ? this.#create.moveTo(coin).updateId() : (this.#creator.get(coin.no) ?? null);
  }

  /** Whether a contract of that owner with that event's id was archived in interval `from` or later, in one after that of its creation. */
  wasArchived(event: EventCursor, owner: Owner, from: number): boolean {
    const isMeant = (coin: PendingCoin | ArchivedCoin): boolean =>
      coin.archivedSeq >= from && coin.owner.no === owner.no;
    const { idHash } = event;
    const created = this.#createdIndex;
    for (let slot = created.first(idHash); slot >= 0; slot = created.next(idHash, slot)) {
      const coin = this.created[created.number(slot)]!;
      if (isMeant(coin) && event.hasIdOf(coin)) return true;
    }
    const ofHash = this.archived.filter((coin) => coin.idHash === idHash && isMeant(coin));
    if (ofHash.some(({ no }) => event.hasIdText(this.#idText.get(no)!))) return true;
    for (const text of this.#spentIds.iterate(owner.no, from)) if (event.hasIdText(text)) return true;
    return false;
  }

  add(coin: PendingCoin): void {
    this.#createdIndex.add(idHashOf(coin), this.created.push(coin) - 1);
  }

  /** Marks a contract archived in interval `seq`. */
  archive(coin: PendingCoin | StoredCoin, seq: number): void {
    coin.archivedSeq = coin.createdSeq === seq ? -1 : seq;
    if (isPending(coin)) return;
    this.#archivedNos.add(spread(coin.no), coin.no);
    const { no, idHash, owner, createdSeq, createdAt, archivedSeq, amount, rate, round } = coin;
    const expiry = expiryOf({ amount, rate, createdRound: round });
    this.archived.push({ no, idHash, owner, createdSeq, createdAt, expiry, archivedSeq });
  }

  /** Called after the commit, when everything is in views.db. */
  settle(): void {
    this.#active.change((numbers) => {
      for (const { idHash, no } of this.archived) numbers.remove(idHash, no);
      for (const coin of this.created) if (isActive(coin)) numbers.add(idHashOf(coin), coin.no);
    });
    this.created.length = 0;
    this.archived.length = 0;
    this.#createdIndex.clear();
    this.#archivedNos.clear();
  }
}

/** A hash of a coin's number, different for each: by their numbers alone, coins at regular distances would crowd. */
function spread(no: number): number {
  return Math.imul(no, 0x9e3779b1);
}

/** The 53-bit hash of a pending coin's id. */
function idHashOf({ chunk, event }: PendingCoin): number {
  return chunk.events.idHash[event]!;
}

export function isActive({ archivedSeq }: PendingCoin | StoredCoin): boolean {
  return archivedSeq === 0;
}

function isActiveIn({ archivedSeq, owner }: PendingCoin | StoredCoin, migrationId: number): boolean {
  return archivedSeq === 0 && owner.migration.migrationId === migrationId;
}

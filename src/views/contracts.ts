import type { Database } from 'better-sqlite3';
import type { Chunk } from '../ledger/pack/chunk.ts';
import type { StoredId } from '../ledger/pack/id.ts';
import { type FoldReader, prepareByFold, readByFold } from './by-fold.ts';
import { unitsOf } from './columns.ts';
import type { Owner, Owners } from './owners.ts';

/** A coin contract created in this batch. */
export interface PendingCoin {
  readonly no: number;
  readonly fold: number;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly locked: boolean;
  readonly amount: bigint;
  readonly rate: bigint;
  readonly rateRound: bigint;
  readonly round: number | bigint;
  readonly expiry: number | bigint;
  readonly createdAt: number;
  readonly node: number;
  readonly template: number;
  readonly contractId: StoredId;
  readonly updateId: StoredId | null;
  readonly extra: string | null;
  /** The interval of its archive; 0 while active, -1 when archived in the interval of its creation. */
  archivedSeq: number;
}

/** A coin contract of an earlier batch, as far as an archive needs it. */
export interface StoredCoin {
  readonly no: number;
  readonly fold: number;
  readonly owner: number;
  readonly createdSeq: number;
  readonly locked: boolean;
  readonly amount: bigint;
  readonly rate: bigint;
  readonly round: bigint;
  readonly createdAt: number;
  readonly contractId: StoredId;
  archivedSeq: number;
}

export function isPending(coin: PendingCoin | StoredCoin): coin is PendingCoin {
  return 'expiry' in coin;
}

type HoldingRow = [bigint, bigint, bigint, bigint, bigint | Buffer, bigint | Buffer, bigint, bigint, StoredId];

/**
 * The active coin contracts as one batch sees them: those in views.db, changed by what the batch did so far.
 * A chunk's contracts are fetched at once, in key order, before its updates are applied.
 */
export class Contracts {
  readonly created: PendingCoin[] = [];
  readonly archived: StoredCoin[] = [];
  readonly #pending = new Map<number, PendingCoin | PendingCoin[]>();
  readonly #archivedNos = new Set<number>();
  #fetched = new Map<number, StoredCoin[]>();
  readonly #owners: Owners;
  readonly #active: FoldReader<[number, number]>;
  readonly #holding: FoldReader<HoldingRow>;

  constructor(db: Database, owners: Owners) {
    this.#owners = owners;
    this.#active = prepareByFold(db, 'SELECT h, no FROM active WHERE h');
    this.#holding = prepareByFold(
      db,
      'SELECT no, owner, created_seq, locked, amount, rate, round, created_at, contract_id FROM holding WHERE no',
    );
    for (const statement of [this.#active.many, this.#active.one]) statement.raw();
    for (const statement of [this.#holding.many, this.#holding.one]) statement.raw().safeIntegers();
  }

  /** Reads what is stored about contracts of these folds, so that `find` needs no statement of its own. */
  fetch(folds: Float64Array): void {
    this.#fetched = new Map();
    const foldOfNo = new Map<number, number>();
    readByFold(this.#active, folds, ([h, no]) => foldOfNo.set(no, h));
    const nos = Float64Array.from(foldOfNo.keys()).sort();
    readByFold(this.#holding, nos, (row) => {
      const no = Number(row[0]);
      const coin: StoredCoin = {
        no,
        fold: foldOfNo.get(no)!,
        owner: Number(row[1]),
        createdSeq: Number(row[2]),
        locked: row[3] === 1n,
        amount: unitsOf(row[4]),
        rate: unitsOf(row[5]),
        round: row[6],
        createdAt: Number(row[7]),
        contractId: row[8],
        archivedSeq: 0,
      };
      const same = this.#fetched.get(coin.fold);
      if (same === undefined) this.#fetched.set(coin.fold, [coin]);
      else same.push(coin);
    });
  }

  /** The active coin contract of that event's id in that migration. */
  find(chunk: Chunk, event: number, migrationId: number): PendingCoin | StoredCoin | undefined {
    const fold = chunk.events.fold[event]!;
    const pending = this.#pending.get(fold);
    if (pending !== undefined) {
      for (const coin of Array.isArray(pending) ? pending : [pending]) {
        if (coin.owner.migration.migrationId === migrationId && isEventId(chunk, event, coin.contractId)) return coin;
      }
    }
    const stored = this.#fetched.get(fold);
    if (stored === undefined) return undefined;
    return stored.find(
      (coin) =>
        !this.#archivedNos.has(coin.no) &&
        isEventId(chunk, event, coin.contractId) &&
        this.#owners.ofNo(coin.owner).migration.migrationId === migrationId,
    );
  }

  add(coin: PendingCoin): void {
    this.created.push(coin);
    const same = this.#pending.get(coin.fold);
    if (same === undefined) this.#pending.set(coin.fold, coin);
    else if (Array.isArray(same)) same.push(coin);
    else this.#pending.set(coin.fold, [same, coin]);
  }

  /** Marks a contract archived in interval `seq`. */
  archive(coin: PendingCoin | StoredCoin, seq: number): void {
    coin.archivedSeq = coin.createdSeq === seq ? -1 : seq;
    if (!isPending(coin)) {
      this.#archivedNos.add(coin.no);
      this.archived.push(coin);
      return;
    }
    const same = this.#pending.get(coin.fold);
    if (Array.isArray(same) && same.length > 1) same.splice(same.indexOf(coin), 1);
    else this.#pending.delete(coin.fold);
  }

  /** After the commit: everything is in views.db. */
  settle(): void {
    this.created.length = 0;
    this.archived.length = 0;
    this.#pending.clear();
    this.#archivedNos.clear();
    this.#fetched.clear();
  }
}

function isEventId(chunk: Chunk, event: number, id: StoredId): boolean {
  const start = chunk.events.idStart[event]!;
  const length = chunk.events.idLength[event]!;
  if (typeof id === 'string') {
    return chunk.events.idPacked[event] === 0 && Buffer.byteLength(id) === length && eventId(chunk, event) === id;
  }
  if (chunk.events.idPacked[event] === 0 || id.length !== length) return false;
  for (let i = 0; i < length; i++) if (chunk.ids[start + i] !== id[i]) return false;
  return true;
}

/** The contract id of an event, as a column holds it; shares the chunk's bytes. */
export function eventId(chunk: Chunk, event: number): StoredId {
  const { idStart, idLength, idPacked } = chunk.events;
  return sliceId(chunk.ids, idStart[event]!, idLength[event]!, idPacked[event]!);
}

export function updateIdOf(chunk: Chunk, update: number): StoredId {
  const { idStart, idLength, idPacked } = chunk.updates;
  return sliceId(chunk.ids, idStart[update]!, idLength[update]!, idPacked[update]!);
}

function sliceId(ids: Uint8Array, start: number, length: number, packed: number): StoredId {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset + start, length);
  return packed === 1 ? bytes : bytes.toString('utf8');
}

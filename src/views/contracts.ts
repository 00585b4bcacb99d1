import type { Database } from 'better-sqlite3';
import type { Chunk } from '../ledger/pack/chunk.ts';
import { EVENT } from '../ledger/pack/chunk.ts';
import type { StoredId } from '../ledger/pack/id.ts';
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

/** Look-ups per statement when a chunk's contracts are fetched. */
const FETCH_ROWS = 32;

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
  readonly #activeMany;
  readonly #activeOne;
  readonly #holdingMany;
  readonly #holdingOne;

  constructor(db: Database, owners: Owners) {
    this.#owners = owners;
    const columns = 'no, owner, created_seq, locked, amount, rate, round, created_at, contract_id';
    const marks = Array(FETCH_ROWS).fill('?').join(', ');
    this.#activeMany = db.prepare<number[], [number, number]>(`SELECT h, no FROM active WHERE h IN (${marks})`).raw();
    this.#activeOne = db.prepare<number[], [number, number]>('SELECT h, no FROM active WHERE h = ?').raw();
    const holding = (where: string) =>
      db.prepare<number[], HoldingRow>(`SELECT ${columns} FROM holding WHERE no ${where}`).raw().safeIntegers();
    this.#holdingMany = holding(`IN (${marks})`);
    this.#holdingOne = holding('= ?');
  }

  /** Reads what is stored about the contracts of these events, so that `find` needs no statement of its own. */
  fetch(chunk: Chunk, fromEvent: number, toEvent: number): void {
    const { kind, fold } = chunk.events;
    const folds = new Float64Array(toEvent - fromEvent);
    let wanted = 0;
    for (let i = fromEvent; i < toEvent; i++) {
      if (kind[i] !== EVENT.archiveRound) folds[wanted++] = fold[i]!;
    }
    this.#fetched = new Map();
    const foldOfNo = new Map<number, number>();
    readMany(folds.subarray(0, wanted).sort(), this.#activeMany, this.#activeOne, ([h, no]) => foldOfNo.set(no, h));
    const nos = Float64Array.from(foldOfNo.keys()).sort();
    readMany(nos, this.#holdingMany, this.#holdingOne, (row) => {
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

interface Reader<R> {
  all(...keys: number[]): R[];
}

function readMany<R>(keys: Float64Array, many: Reader<R>, one: Reader<R>, take: (row: R) => void): void {
  let at = 0;
  for (; at + FETCH_ROWS <= keys.length; at += FETCH_ROWS) many.all(...keys.subarray(at, at + FETCH_ROWS)).forEach(take);
  for (; at < keys.length; at++) one.all(keys[at]!).forEach(take);
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

import type { Database } from 'better-sqlite3';
import type { Chunk } from '../../chunk/chunk.ts';
import { idTextOf, isEventId, sameEventId } from '../../chunk/chunk-ids.ts';
import { type FoldReader, prepareByFold, readByFold } from '../store/by-hash.ts';
import { unitsOf } from '../store/columns.ts';
import type { CoinTerms } from './coin-terms.ts';
import { FoldIndex } from './hash-index.ts';
import type { Owner, Owners } from './owners.ts';

/** A coin contract created in this batch; its ids and numbers stay in the chunk until they are written (see `termsOf`). */
export interface PendingCoin {
  readonly no: number;
  readonly chunk: Chunk;
  readonly update: number;
  readonly event: number;
  readonly owner: Owner;
  readonly createdSeq: number;
  readonly template: number;
  /** Its numbers, where the chunk's columns cannot hold them. */
  readonly wide: CoinTerms | null;
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
  readonly rateRound: bigint;
  readonly round: bigint;
  readonly createdAt: number;
  archivedSeq: number;
}

export function isPending(coin: PendingCoin | StoredCoin): coin is PendingCoin {
  return 'chunk' in coin;
}

type HoldingRow = [bigint, bigint, bigint, bigint, bigint | Buffer, bigint | Buffer, bigint, bigint, string];

/**
 * The active coin contracts as one batch sees them: those in views.db, changed by what the batch did so far.
 * A chunk's contracts are fetched at once, in key order, before its updates are applied.
 */
export class Contracts {
  readonly created: PendingCoin[] = [];
  readonly archived: StoredCoin[] = [];
  readonly #createdIndex = new FoldIndex();
  readonly #fetched: { coin: StoredCoin; contractId: string }[] = [];
  readonly #fetchedIndex = new FoldIndex();
  readonly #archivedNos = new Set<number>();
  readonly #owners: Owners;
  readonly #active: FoldReader<[number, number]>;
  readonly #holding: FoldReader<HoldingRow>;

  constructor(db: Database, owners: Owners) {
    this.#owners = owners;
    this.#active = prepareByFold(db, { columns: 'h, no', table: 'active', key: 'h' });
    const facts = `no, owner, created_seq, locked, amount, rate, round, created_at, ${idTextOf('contract_id')}`;
    this.#holding = prepareByFold(db, { columns: facts, table: 'holding', key: 'no' });
    for (const statement of [this.#active.many, this.#active.one]) statement.raw();
    for (const statement of [this.#holding.many, this.#holding.one]) statement.raw().safeIntegers();
  }

  /** Reads what is stored about contracts of these folds, so that `find` needs no statement of its own. */
  fetch(folds: Float64Array): void {
    this.#fetched.length = 0;
    this.#fetchedIndex.clear();
    const foldOfNo = new Map<number, number>();
    readByFold(this.#active, folds, ([h, no]) => foldOfNo.set(no, h));
    readByFold(this.#holding, Float64Array.from(foldOfNo.keys()).sort(), (row) => {
      const no = Number(row[0]);
      if (this.#archivedNos.has(no)) return;
      const [rate, round] = [unitsOf(row[5]), row[6]];
      const coin: StoredCoin = {
        no,
        fold: foldOfNo.get(no)!,
        owner: Number(row[1]),
        createdSeq: Number(row[2]),
        locked: row[3] === 1n,
        amount: unitsOf(row[4]),
        rate,
        rateRound: rate * round,
        round,
        createdAt: Number(row[7]),
        archivedSeq: 0,
      };
      this.#fetchedIndex.add(coin.fold, this.#fetched.push({ coin, contractId: row[8] }) - 1);
    });
  }

  /** The active coin contract of that event's id in that migration. */
  find(chunk: Chunk, event: number, migrationId: number): PendingCoin | StoredCoin | undefined {
    const fold = chunk.events.fold[event]!;
    const created = this.#createdIndex;
    for (let slot = created.first(fold); slot >= 0; slot = created.next(fold, slot)) {
      const coin = this.created[created.position(slot)]!;
      if (coin.archivedSeq !== 0 || coin.owner.migration.migrationId !== migrationId) continue;
      if (sameEventId(coin.chunk, coin.event, chunk, event)) return coin;
    }
    const fetched = this.#fetchedIndex;
    for (let slot = fetched.first(fold); slot >= 0; slot = fetched.next(fold, slot)) {
      const { coin, contractId } = this.#fetched[fetched.position(slot)]!;
      if (coin.archivedSeq !== 0 || !isEventId(chunk, event, contractId)) continue;
      if (this.#owners.ofNo(coin.owner).migration.migrationId === migrationId) return coin;
    }
    return undefined;
  }

  add(coin: PendingCoin): void {
    this.#createdIndex.add(coin.chunk.events.fold[coin.event]!, this.created.push(coin) - 1);
  }

  /** Marks a contract archived in interval `seq`. */
  archive(coin: PendingCoin | StoredCoin, seq: number): void {
    coin.archivedSeq = coin.createdSeq === seq ? -1 : seq;
    if (isPending(coin)) return;
    this.#archivedNos.add(coin.no);
    this.archived.push(coin);
  }

  /** After the commit: everything is in views.db. */
  settle(): void {
    this.created.length = 0;
    this.archived.length = 0;
    this.#createdIndex.clear();
    this.#archivedNos.clear();
  }
}

import type { Database } from 'better-sqlite3';
import type { Chunk } from '../../chunk/chunk.ts';
import type { Coin } from '../../ledger/update.ts';
import { termsOf } from './coin-terms.ts';
import { Contracts, isPending, type PendingCoin, type StoredCoin } from './contracts.ts';
import { Counterfeits } from './counterfeits.ts';
import { type Counts, copyCounts } from './counts.ts';
import { createContractFlush } from './flush.ts';
import { type Owner, Owners } from './owners.ts';
import { type SavePositions, settlePositions } from './positions.ts';
import { Rounds } from './rounds.ts';
import { Seals } from './seal.ts';
import { createStateSaver, loadState, type MigrationState, type WriterState } from './state.ts';
import { createCoinReader } from './stored-coin.ts';
import { Templates } from './templates.ts';

interface Named {
  readonly names: readonly string[];
  readonly generation: number;
  readonly owners: (Owner | undefined)[];
}

/**
 * The updates applied in memory and not yet written, and the caches behind them. `commit` writes everything in one transaction;
 * a batch that failed is thrown away and a new one is opened from what is on disk.
 */
export class Batch {
  readonly state: WriterState;
  readonly owners: Owners;
  readonly contracts: Contracts;
  readonly rounds: Rounds;
  readonly counterfeits: Counterfeits;
  readonly templates: Templates;
  readonly seals: Seals;
  counts: Counts;
  /** Owners by their number in the names of the chunks that are being applied; as long as the cache behind it holds them all. */
  #named: Named = { names: [], generation: 0, owners: [] };
  readonly #db: Database;
  readonly #flushContracts: (contracts: Contracts) => void;
  readonly #savePositions: SavePositions;
  readonly #saveState: (state: WriterState) => void;
  readonly #readCoin: (no: number) => Coin;

  constructor(db: Database, counts: Counts, savePositions: SavePositions) {
    this.#db = db;
    this.state = loadState(db);
    this.owners = new Owners(db, this.state);
    this.contracts = new Contracts(db, this.owners);
    this.rounds = new Rounds(db);
    this.counterfeits = new Counterfeits(db);
    this.templates = new Templates(db);
    this.seals = new Seals(db, this.owners);
    this.counts = copyCounts(counts);
    this.#flushContracts = createContractFlush(db);
    this.#savePositions = savePositions;
    this.#saveState = createStateSaver(db);
    this.#readCoin = createCoinReader(db);
  }

  /** The owner of a coin create of the chunk. */
  ownerOf(migration: MigrationState, { names }: Chunk, name: number): Owner {
    const { generation } = this.owners;
    if (this.#named.names !== names || this.#named.generation !== generation) {
      this.#named = { names, generation, owners: [] };
    }
    const { owners } = this.#named;
    const known = owners[name];
    if (known !== undefined && known.migration === migration) return known;
    const owner = this.owners.ofParty(migration, names[name]!);
    while (owners.length <= name) owners.push(undefined);
    owners[name] = owner;
    return owner;
  }

  /** Reads what is stored about the contracts of a chunk, at once and in key order, before its updates are applied. */
  fetch(folds: Float64Array): void {
    folds.sort();
    this.contracts.fetch(folds);
    this.counterfeits.fetch(folds);
  }

  /** All that a create said of a contract that is active. */
  knownCoin(coin: PendingCoin | StoredCoin): Coin {
    if (!isPending(coin)) return this.#readCoin(coin.no);
    const terms = termsOf(coin);
    const entity = terms.locked ? 'LockedAmulet' : 'Amulet';
    return {
      ...terms,
      ...this.templates.ofNumber(coin.template),
      entity,
      owner: coin.owner.party,
      round: BigInt(terms.round),
    };
  }

  /** One transaction: rows, totals, snapshots and the position. `also` runs within it. */
  commit(also: () => void = () => {}): void {
    const parts = [this.owners, this.templates, this.seals, this.rounds, this.counterfeits];
    this.#db.transaction(() => {
      // First: a writer that was replaced must learn that, and not stumble over the rows of the other one.
      this.#savePositions(this.state.lanes);
      this.#flushContracts(this.contracts);
      for (const part of parts) part.flush();
      this.#saveState(this.state);
      also();
    })();
    settlePositions(this.state.lanes);
    for (const part of [...parts, this.contracts]) part.settle();
  }
}

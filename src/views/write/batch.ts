import type { Database } from 'better-sqlite3';
import { createContractFlush, Templates } from './coin-rows.ts';
import { type ActiveIds, Contracts } from './contracts.ts';
import { Epochs } from './epochs.ts';
import { Instruments } from './instruments.ts';
import { LedgerUpdates } from './ledger-updates.ts';
import { MovementLegs } from './movement-legs.ts';
import { OpenItems } from './open-items.ts';
import { EarlyArchives, Rounds, UncountedIds } from './other-contracts.ts';
import { Owners } from './owner-sums.ts';
import { markPositionsStored, preparePositions } from './positions.ts';
import { Seals } from './seals.ts';
import { type Counts, copyCounts, createStateSaver, LastUpdates, loadState, type WriterState } from './state.ts';

/** As they are by default unless given. */
export interface BatchSizes {
  /** Creates and archives after which an epoch is closed. */
  readonly epochEvents: number;
  /** Owners that are kept as objects beside those of the last batch. */
  readonly ownersMax: number;
}

/**
 * The updates applied in memory and not yet written, and the caches it uses. `commit` writes everything in one transaction;
 * a batch that failed is thrown away and a new one is opened from what is on disk.
 */
export class Batch {
  readonly state: WriterState;
  readonly epochs: Epochs;
  readonly instruments: Instruments;
  readonly owners: Owners;
  readonly contracts: Contracts;
  readonly rounds: Rounds;
  readonly uncounted: UncountedIds;
  readonly earlyArchives: EarlyArchives;
  readonly templates: Templates;
  readonly items: OpenItems;
  readonly tokenItems: OpenItems;
  readonly updates: LedgerUpdates;
  readonly legs: MovementLegs;
  readonly lastUpdates: LastUpdates;
  readonly seals: Seals;
  counts: Counts;
  readonly #db: Database;
  readonly #flushContracts;
  readonly #savePositions;
  readonly #saveState;

  constructor(
    db: Database,
    { active, sizes, counts }: { active: ActiveIds; sizes: Partial<BatchSizes>; counts: Counts },
  ) {
    this.#db = db;
    this.state = loadState(db);
    this.epochs = new Epochs(db, sizes.epochEvents);
    this.instruments = new Instruments(db, this.state);
    this.owners = new Owners(db, this, sizes.ownersMax);
    this.contracts = new Contracts(db, this.owners, active);
    this.rounds = new Rounds(db);
    this.uncounted = new UncountedIds(db, this.state, active.uncounted);
    this.earlyArchives = new EarlyArchives(db, this.state);
    this.templates = new Templates(db);
    this.items = new OpenItems(db, 'open_items');
    this.tokenItems = new OpenItems(db, 'open_token_items');
    this.updates = new LedgerUpdates(db, this);
    this.legs = new MovementLegs(db, this);
    this.lastUpdates = new LastUpdates(db);
    this.seals = new Seals(db, this);
    this.counts = copyCounts(counts);
    this.#flushContracts = createContractFlush(db, this.epochs);
    this.#savePositions = preparePositions(db);
    this.#saveState = createStateSaver(db, this.state, this);
  }

  /** One transaction: rows, totals, snapshots and the position. `also` runs within it. */
  commit(also: () => void = () => {}): void {
    const parts = [
      this.owners,
      // Behind the owners, whose versions queue those of their supply.
      this.instruments,
      this.templates,
      this.updates,
      this.legs,
      this.seals,
      this.items,
      this.tokenItems,
      this.rounds,
      this.uncounted,
      this.earlyArchives,
    ];
    this.#db.transaction(() => {
      // First: a writer that was replaced must find that out here, and not by the other one's rows.
      this.#savePositions(this.state.lanes);
      this.#flushContracts(this.contracts);
      for (const part of parts) part.flush();
      this.#saveState(this.state);
      // Last: it closes the epoch of all that was written.
      this.epochs.flush(this.state.nextNo);
      also();
    })();
    markPositionsStored(this.state.lanes);
    // Only memory: what is on disk must not be applied again because a read failed.
    for (const part of [this.contracts, this.epochs, ...parts]) part.afterCommit();
  }
}

import type { Micros } from '../../ledger/time.ts';
import type { CoinEntity } from '../../ledger/update.ts';

/** A sealed snapshot. Amounts in 1e-10 units; `seq` is its number within the migration. */
export interface Snapshot {
  readonly migrationId: number;
  readonly recordTime: Micros;
  readonly seq: number;
  readonly contracts: number;
  readonly owners: number;
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** One figure for unlocked coin and one for locked coin, in 1e-10 units. */
export interface UnlockedLocked {
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** A coin contract active at a snapshot, with what the feed said of it. */
export interface StoredContract {
  readonly contractId: string;
  readonly entity: CoinEntity;
  readonly templateId: string;
  readonly packageName: string;
  /** Null for imports. */
  readonly updateId: string | null;
  readonly node: number;
  readonly createdAt: Micros;
  /** Create arguments as JSON values; Decimals printed plainly with ten decimals. */
  readonly createArguments: Readonly<Record<string, unknown>>;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** What is read within one read transaction: every answer of it is of the same moment. */
export interface ViewsReader {
  /** The snapshot at exactly that time (microseconds), or the newest at or before it, in that migration only. */
  snapshotAt(query: { migrationId: bigint; recordTime: bigint; match: 'exact' | 'at_or_before' }): Snapshot | null;
  /** The first snapshot strictly after that time in that migration, else the first of the smallest larger migration that has one. */
  firstSnapshotAfter(query: { migrationId: bigint; recordTime: bigint }): Snapshot | null;
  newestSnapshot(migrationId?: bigint): Snapshot | null;
  /** The newest snapshot of each migration that has one. */
  newestSnapshots(): readonly Snapshot[];
  /** Every snapshot, by migration and record time. */
  snapshots(): Iterable<Snapshot>;
  /** The largest migration seen. */
  lastMigration(): number | null;
  /** The lowest number among the open mining rounds active now in the newest migration. */
  lowestOpenRound(): bigint | null;
  /** Total initial amounts of an owner's coins at the snapshot; zeros for an owner without coin. */
  totals(snapshot: Snapshot, party: string): UnlockedLocked;
  /** Whether the owner has coin at the snapshot. */
  holds(snapshot: Snapshot, party: string): boolean;
  /** Exact holding fees of an owner's coins at the snapshot, as of a round. */
  fees(snapshot: Snapshot, party: string, round: bigint): UnlockedLocked;
  /** The same where that takes no more rows than the budget has left, which it takes them from; else null. */
  boundedFees(snapshot: Snapshot, party: string, round: bigint, budget: { rows: number }): UnlockedLocked | null;
  /**
   * The owners' contracts at the snapshot, by created_at and then contract id (UTF-8 bytes), at most `size` of them, behind the token
   * `after`. `next` is null at the end. Null in place of a page: `after` is no token of this snapshot.
   * Throws PageTooLarge.
   */
  page(query: {
    snapshot: Snapshot;
    parties: readonly string[];
    after: bigint | null;
    size: number;
  }): { readonly contracts: readonly StoredContract[]; readonly next: bigint | null } | null;
}

/** Opens one read transaction per call of `read`; readers never wait for the writer (WAL). */
export interface ViewsDatabase extends Disposable {
  read<T>(body: (views: ViewsReader) => T): T;
}

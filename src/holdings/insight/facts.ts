import type { Micros } from '../../ledger/time.ts';
import type { Snapshot } from '../snapshot.ts';

/** The kinds of fact that tables are made of. What was sealed never changes, so several may be read for one table. */
export interface TableFactKinds {
  /** Null: no such migration has a snapshot. */
  migration: { lookup: { migrationId: bigint | null }; facts: SealedMigration | null };
  'listed snapshots': { lookup: ListedSnapshotsLookup; facts: readonly Snapshot[] };
  changes: { lookup: ChangesLookup; facts: ChangesFacts };
  'listed owners': { lookup: ListedOwnersLookup; facts: readonly PartyTotals[] };
  ranking: { lookup: SnapshotPlace; facts: Ranking };
  /** In the order requested. */
  'numbered owners': { lookup: SnapshotPlace & { owners: readonly number[] }; facts: readonly PartyTotals[] };
}

/** The kinds of fact that a stream is made of. Each is bounded by its question. */
export interface StreamFactKinds {
  /** The snapshot that was sealed last, of any migration; null before the first. */
  'last sealed': { lookup: unknown; facts: SealedSnapshot | null };
  /** A snapshot's place in the order of sealing; null where there is no such snapshot. */
  'sealed place': { lookup: { migrationId: bigint; recordTime: bigint }; facts: number | null };
  /** The snapshots of all migrations after one place and up to another, in the order of sealing. */
  'sealed snapshots': {
    lookup: { after: number; until: number; rows: number };
    facts: readonly SealedSnapshot[];
  };
  /** The migrations that have a snapshot between two places, both exclusive. */
  'sealed migrations': { lookup: { after: number; before: number }; facts: readonly number[] };
  /** The changes of some owners, in the order of the owners and then of time. */
  'changes of owners': { lookup: OwnersChangesLookup; facts: readonly (readonly Change[])[] };
}

/** A snapshot with its place in the order in which those of all migrations were sealed: 1, 2, 3 and so on. */
export interface SealedSnapshot extends Snapshot {
  readonly no: number;
}

/** A migration that has a snapshot; by default the newest such one. */
export interface SealedMigration {
  readonly migrationId: number;
  readonly periodUs: number;
  /** Null until one is named or seen. */
  readonly dso: string | null;
  /** When it began with the active contracts of a node; null where it began with updates. */
  readonly seededAt: Micros | null;
  readonly oldest: Snapshot;
  readonly newest: Snapshot;
}

/** An existing snapshot. */
export interface SnapshotPlace {
  readonly migrationId: number;
  readonly recordTime: Micros;
}

export type Order = 'asc' | 'desc';

/** Of one migration, by record time. */
export interface ListedSnapshotsLookup {
  readonly migrationId: number;
  /** Both inclusive. */
  readonly from: Micros;
  readonly to: Micros;
  /** Only those at a multiple of it, which are on the grid; null: all. */
  readonly every: number | null;
  readonly order: Order;
  readonly rows: number;
}

/** An owner's coins at a snapshot. Amounts in 1e-10 units. */
export interface Totals {
  readonly unlocked: bigint;
  readonly locked: bigint;
  readonly contracts: number;
}

export const NO_COIN: Totals = { unlocked: 0n, locked: 0n, contracts: 0 };

export function sameTotals(a: Totals, b: Totals): boolean {
  return a.unlocked === b.unlocked && a.locked === b.locked && a.contracts === b.contracts;
}

export interface PartyTotals extends Totals {
  readonly party: string;
}

/** The snapshots of the grid in which an owner's totals differ from those of the snapshot of the grid before. */
export interface ChangesLookup {
  readonly migrationId: number;
  readonly party: string;
  /** Times of snapshots of the grid, both inclusive. */
  readonly from: Micros;
  readonly to: Micros;
  readonly order: Order;
  readonly rows: number;
}

export interface OwnersChangesLookup {
  readonly migrationId: number;
  readonly owners: readonly string[];
  /** Times of snapshots, on the grid or forced; both inclusive. */
  readonly from: Micros;
  readonly to: Micros;
}

export interface ChangesFacts {
  /** At the snapshot of the grid before `from`. */
  readonly before: Totals;
  /** The first of them in that order. */
  readonly changes: readonly Change[];
}

export interface Change {
  readonly recordTime: Micros;
  readonly before: Totals;
  readonly after: Totals;
}

/** Those who had coin in a snapshot of the grid at or before that one, by the UTF-8 bytes of their party ids. */
export interface ListedOwnersLookup extends SnapshotPlace {
  readonly prefix: string;
  /** The party after which they begin; null: at the first. */
  readonly after: string | null;
  readonly rows: number;
}

/** What owners may be ordered by. */
export type RankedBy = 'total' | 'unlocked' | 'locked';

/** The owners with coin at a snapshot by the store's numbers for them, in each order: the largest first, of equals by party id. */
export type Ranking = Readonly<Record<RankedBy, Uint32Array>>;

import type { Micros } from '../ledger/time.ts';
import type { BalanceFactKinds } from './balance-facts.ts';
import type { AccountName, InstrumentName, OfInstrument } from './instrument.ts';
import type { MovementFactKinds } from './movement-facts.ts';
import type { StateQuery, TimeQuery } from './question.ts';

/** What there is of an instrument. Amounts in 1e-10 units. */
export interface Supply {
  readonly contracts: number;
  /** The parties that have some. */
  readonly owners: number;
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** A sealed snapshot, with the supply of the coin. */
export interface Snapshot extends Supply {
  readonly migrationId: number;
  readonly recordTime: Micros;
  /** Whether it was forced, at a time where the feed would not have sealed one. */
  readonly forced: boolean;
  /** 64 hex digits each: docs/digest.md. Null where it was forced. */
  readonly changesDigest: string | null;
  readonly digest: string | null;
  /** The same of all other instruments; null before their chain begins, too. */
  readonly tokensChangesDigest: string | null;
  readonly tokensDigest: string | null;
}

/**
 * The interface to a store: views.db (views/read/) or PostgreSQL (scale/). All facts of one lookup are of one moment; a question
 * of several lookups reads sealed snapshots, which never change. Fees, sums and texts are computed from facts in this folder,
 * the same for every store.
 */
export interface HoldingsStore {
  facts<K extends FactKind>(lookup: Lookup<K>): Promise<Facts<K>>;
}

/** Every kind of fact: its query and its result. Another one is a line here and a function in each store. */
interface FactKinds extends TableFactKinds, StreamFactKinds, MovementFactKinds, BalanceFactKinds {
  /** Null where there is none. */
  snapshot: { lookup: { snapshot: SnapshotChoice }; facts: Snapshot | null };
  /** The first strictly after a time in its migration, else the first of the smallest larger migration that has one. */
  'snapshot after': { lookup: TimeQuery; facts: Snapshot | null };
  /** The newest of each migration that has one, by migration. */
  'newest snapshots': { lookup: unknown; facts: readonly Snapshot[] };
  /** All of them, by migration and record time. */
  snapshots: { lookup: unknown; facts: readonly Snapshot[] };
  /** The largest migration seen. */
  'last migration': { lookup: unknown; facts: number | null };
  /** Null until one is named or seen. */
  dso: { lookup: unknown; facts: string | null };
  followed: { lookup: { parties: readonly string[] }; facts: FollowedFacts };
  owners: { lookup: OwnersLookup; facts: OwnersFacts };
  page: { lookup: PageLookup; facts: PageFacts };
}

export type FactKind = keyof FactKinds;
export type Lookup<K extends FactKind> = { readonly kind: K } & FactKinds[K]['lookup'];
export type Facts<K extends FactKind> = FactKinds[K]['facts'];

export interface SnapshotChoice {
  /** Null: the largest migration seen. */
  readonly migrationId: bigint | null;
  /** In microseconds since 1970, of any year; null: the newest. */
  readonly recordTime: bigint | null;
  /** At exactly that time, or the newest at or before it; in that migration only. */
  readonly match: 'exact' | 'at_or_before';
}

/** Whose coins count in a store. */
export interface FollowedFacts {
  /** Only those of some owners do. */
  readonly isLimited: boolean;
  /** Of the parties that were asked about, those that are not followed. */
  readonly others: readonly string[];
}

export interface OwnersLookup extends OfInstrument {
  readonly snapshot: SnapshotChoice;
  readonly owners: readonly string[];
  /** The round to compute fees at; `lowest open`: of the mining rounds now open in the newest migration. Null: no fees. */
  readonly round: bigint | 'lowest open' | null;
}

export interface OwnersFacts {
  readonly snapshot: Snapshot | null;
  /** Null where none was requested, or none is open. */
  readonly round: bigint | null;
  /** In the order requested; none without a snapshot. */
  readonly owners: readonly OwnerFacts[];
}

/** An owner's coins at the snapshot; zeros for a party that never had any. */
export interface OwnerFacts {
  readonly party: string;
  readonly unlocked: OwnerSums;
  readonly locked: OwnerSums;
  /** The coins that have expired as of the round; read where `mayHaveExpired` (summary-answer.ts), else null. */
  readonly expired: { readonly unlocked: CoinSums; readonly locked: CoinSums } | null;
}

/** Sums over coins, exact: initial amounts and rates in 1e-10 units, and each rate times the round that its coin was created in. */
export interface CoinSums {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly rateRound: bigint;
}

export interface OwnerSums extends CoinSums {
  readonly count: number;
  /** A lower bound of the rounds that the coins expire in; Infinity where none does. */
  readonly expiryBound: number | bigint;
}

interface PageLookup extends Pick<StateQuery, 'owners' | 'pageSize' | 'after'> {
  readonly snapshot: SnapshotChoice;
}

/** The owners' contracts after `after`, by created_at and then contract id (UTF-8 bytes). */
export type PageFacts =
  | {
      readonly found: 'page';
      readonly snapshot: Snapshot;
      /** At most `pageSize`. */
      readonly contracts: readonly ContractFacts[];
      /** The token of the last one; null at the end. */
      readonly next: bigint | null;
    }
  | { readonly found: 'no snapshot' }
  /** `after` is no token of this snapshot. */
  | { readonly found: 'no such token' }
  /** The contracts are so large that a page may only have this many. */
  | { readonly found: 'too large'; readonly fitting: number };

/** A coin that is active at a snapshot, as in the feed. */
export interface ContractFacts {
  readonly contractId: string;
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

/** The kinds of fact that tables are made of. What was sealed never changes, so several may be read for one table. */
export interface TableFactKinds {
  /** Null: no such migration has a snapshot. */
  migration: { lookup: { migrationId: bigint | null }; facts: SealedMigration | null };
  'listed snapshots': { lookup: ListedSnapshotsLookup; facts: readonly Snapshot[] };
  changes: { lookup: ChangesLookup; facts: ChangesFacts };
  'listed owners': { lookup: ListedOwnersLookup; facts: readonly PartyTotals[] };
  ranking: { lookup: RankingLookup; facts: Ranking };
  /** The store's numbers of the owners whose party ids contain a lower-case text, whatever their case. */
  'owners containing': { lookup: OfInstrument & { migrationId: number; text: string }; facts: readonly number[] };
  /** In the order requested. */
  'numbered owners': { lookup: RankingLookup & { owners: readonly number[] }; facts: readonly PartyTotals[] };
  /** What there is of an instrument at a snapshot, or before all of them (null); null where the migration does not know it. */
  instrument: {
    lookup: { migrationId: number; recordTime: Micros | null; instrument: InstrumentName };
    facts: Supply | 'no tokens' | null;
  };
  instruments: { lookup: InstrumentsLookup; facts: readonly ListedInstrument[] };
  'instruments of owner': { lookup: InstrumentsLookup & { party: string }; facts: readonly OwnedInstrument[] };
  /** Of the holdings that cannot be read and are active now, by contract id (UTF-8 bytes). */
  unreadable: { lookup: UnreadableLookup; facts: readonly Unreadable[] };
}

/** The kinds of fact that a stream is made of. Each is bounded by its question. */
export interface StreamFactKinds {
  /** The snapshot that was sealed last, of any migration; null before the first. */
  'last sealed': { lookup: unknown; facts: SealedSnapshot | null };
  /** The snapshot of exactly that time; null where there is none. */
  'sealed snapshot': { lookup: { migrationId: bigint; recordTime: bigint }; facts: SealedSnapshot | null };
  /** Whether the time of a migration is past that one, or never will be: what is not known of that time will not come. */
  'time passed': { lookup: { migrationId: bigint; recordTime: bigint }; facts: boolean };
  /** The snapshots of all migrations after one number and up to another, in the order of sealing. */
  'sealed snapshots': {
    lookup: { after: number; until: number; rows: number };
    facts: readonly SealedSnapshot[];
  };
  /** The migrations that have a snapshot between two numbers, both exclusive. */
  'sealed migrations': { lookup: { after: number; before: number }; facts: readonly number[] };
  /** The changes of some owners, in the order of the owners and then of time. */
  'changes of owners': { lookup: OwnersChangesLookup; facts: readonly (readonly Change[])[] };
}

/** A snapshot with its number in the order of sealing, over all migrations: 1, 2, 3 and so on. */
export interface SealedSnapshot extends Snapshot {
  readonly no: number;
  /** The number of the last update before it, of any migration; 0 where the store keeps no updates. */
  readonly updateNo: number;
}

/** A migration that has a snapshot; by default the newest such one. */
export interface SealedMigration {
  readonly migrationId: number;
  readonly periodUs: number;
  /** Null until one is named or seen. */
  readonly dso: string | null;
  /** When it began with the active contracts of a node; null where it began with updates. */
  readonly importedAt: Micros | null;
  /** The counted time from which movements are kept; null: from the beginning, or none are, as in PostgreSQL. */
  readonly movementsSince: Micros | null;
  readonly oldest: Snapshot;
  readonly newest: Snapshot;
}

/** An existing snapshot. */
export interface SnapshotPlace {
  readonly migrationId: number;
  readonly recordTime: Micros;
}

export type RankingLookup = SnapshotPlace & OfInstrument;

/** Those of which something was held in a snapshot of the grid at or before that one, by admin and id (UTF-8 bytes). */
export interface InstrumentsLookup extends SnapshotPlace {
  /** That after which they begin; null: at the first. */
  readonly after: InstrumentName | null;
  readonly rows: number;
}

export interface ListedInstrument extends InstrumentName, Supply {
  /** Whether this is what there is in all, or what the owners that a participant shows have. */
  readonly scope: 'network' | 'followed';
}

export interface AccountTotals extends AccountName {
  readonly unlocked: bigint;
  readonly locked: bigint;
}

export const ACCOUNTS_MAX = 1_000;

export interface OwnedInstrument extends InstrumentName, Totals {
  /** The ACCOUNTS_MAX largest of those that had some up to then, by provider (null first) and id. */
  readonly accounts: readonly AccountTotals[];
  readonly accountsTotal: number;
}

interface UnreadableLookup {
  readonly migrationId: number;
  /** The contract id after which they begin; null: at the first. */
  readonly after: string | null;
  readonly rows: number;
}

export interface Unreadable {
  readonly contractId: string;
  readonly templateId: string;
  readonly reason: string;
  /** Signatories and observers, in order. */
  readonly stakeholders: readonly string[];
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
export interface ChangesLookup extends OfInstrument {
  readonly migrationId: number;
  readonly party: string;
  /** Times of snapshots of the grid, both inclusive. */
  readonly from: Micros;
  readonly to: Micros;
  readonly order: Order;
  readonly rows: number;
}

export interface OwnersChangesLookup extends OfInstrument {
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
export interface ListedOwnersLookup extends SnapshotPlace, OfInstrument {
  readonly prefix: string;
  /** The party after which they begin; null: at the first. */
  readonly after: string | null;
  readonly rows: number;
}

/** What owners may be ordered by. */
export type RankedBy = 'total' | 'unlocked' | 'locked';

/** The owners with coin at a snapshot by the store's numbers for them, in each order: the largest first, of equals by party id. */
export type Ranking = Readonly<Record<RankedBy, Uint32Array>>;

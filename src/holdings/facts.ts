import type { Micros } from '../ledger/time.ts';
import type { StreamFactKinds, TableFactKinds } from './insight/facts.ts';
import type { StateQuery, TimeQuery } from './question.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The interface to a store: views.db (views/read/) or PostgreSQL (scale/). All facts of one question are of one moment, so an
 * answer is consistent; fees, sums and texts are computed from them in this folder, the same for every store.
 */
export interface HoldingsStore {
  facts<K extends FactKind>(lookup: Lookup<K>): Promise<Facts<K>>;
}

/** Every kind of fact: its query and its result. Another one is a line here and a function in each store. */
export interface FactKinds extends TableFactKinds, StreamFactKinds {
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

export interface OwnersLookup {
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
  /** The coins that have expired as of the round; read where `mayHaveExpired` (fees.ts), else null. */
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

export interface PageLookup extends Pick<StateQuery, 'owners' | 'pageSize' | 'after'> {
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

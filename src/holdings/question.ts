/** A time of one migration, in microseconds since 1970. */
export interface TimeQuery {
  readonly migrationId: bigint;
  readonly recordTime: bigint;
}

/** One snapshot of one migration. */
export interface SnapshotQuery extends TimeQuery {
  readonly match: 'exact' | 'at_or_before';
}

interface SummaryQuery extends SnapshotQuery {
  /** In the order requested, without duplicates. */
  readonly owners: readonly string[];
}

export interface StateQuery<Token = bigint> extends SummaryQuery {
  readonly pageSize: number;
  /** The token of the page before; null for the first page. */
  readonly after: Token | null;
}

/** The questions, by the name of the answer: plain values, so that they can be sent to another thread. */
export type Question =
  /** With fees as of a round; null: the lowest open one. */
  | { readonly answer: 'summary v0'; readonly query: SummaryQuery & { readonly asOfRound: bigint | null } }
  | { readonly answer: 'summary v1'; readonly query: SummaryQuery }
  | { readonly answer: 'state v0' | 'state v1'; readonly query: StateQuery }
  | { readonly answer: 'state v2'; readonly query: StateQuery<string> }
  | { readonly answer: 'snapshot before' | 'snapshot after'; readonly query: TimeQuery }
  | { readonly answer: 'last migration' | 'dso' };

/** How many owners one question may name unless the service is configured otherwise. */
export const OWNERS_MAX_DEFAULT = 1000;

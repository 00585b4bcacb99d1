import type { Given, ParameterName } from './parameters.ts';

/** Where a page begins, and what all pages of a question have in common. */
export interface PageStart {
  readonly migrationId: bigint;
  /** The record time of the snapshot that the first page is of; of a list, the newest that may be in it. */
  readonly snapshot: bigint;
  /** The last row of the page before: its party, record time or rank. */
  readonly last: string;
}

export interface Paged {
  readonly limit: number;
  /** Null: the first page. */
  readonly after: PageStart | null;
}

interface OfParty {
  readonly party: string;
}

export type SnapshotsQuery = Given<'migration_id' | 'from' | 'to' | 'every' | 'order'> & Paged;
export type OwnersQuery = Given<'migration_id' | 'record_time' | 'prefix'> & Paged;
export type HistoryQuery = Given<'migration_id' | 'from' | 'to' | 'every'> & OfParty;
export type ChangesQuery = Given<'migration_id' | 'from' | 'to' | 'order'> & OfParty & Paged;
export type TopQuery = Given<'migration_id' | 'record_time' | 'by'> & Paged;

/** Plain values, so that it can be sent to another thread. */
export type TableQuestion =
  | { readonly table: 'snapshots'; readonly query: SnapshotsQuery }
  | { readonly table: 'owners'; readonly query: OwnersQuery }
  | { readonly table: 'history'; readonly query: HistoryQuery }
  | { readonly table: 'changes'; readonly query: ChangesQuery }
  | { readonly table: 'top'; readonly query: TopQuery };

export type TableName = TableQuestion['table'];

/** The parameters of a table, and whether it has pages. */
export const TABLES: Readonly<
  Record<TableName, { readonly parameters: readonly ParameterName[]; readonly paged: boolean }>
> = {
  snapshots: { parameters: ['migration_id', 'from', 'to', 'every', 'order'], paged: true },
  owners: { parameters: ['migration_id', 'record_time', 'prefix'], paged: true },
  history: { parameters: ['party', 'migration_id', 'from', 'to', 'every'], paged: false },
  changes: { parameters: ['party', 'migration_id', 'from', 'to', 'order'], paged: true },
  top: { parameters: ['migration_id', 'record_time', 'by'], paged: true },
};

/** Rows in a page: at most, and by default. */
export const LIMIT_MAX = 1000;
export const LIMIT_DEFAULT = 100;

import { formatTime, type Micros, parseLedgerTime } from '../../ledger/time.ts';
import { showGiven } from '../../show-given.ts';
import type { HoldingsStore } from '../facts.ts';
import { HoldingsFault } from '../fault.ts';
import type { Snapshot } from '../snapshot.ts';
import { snapshotFault } from '../snapshot-answers.ts';
import type { Order, SealedMigration } from './facts.ts';
import type { PageStart } from './question.ts';

interface OfMigration {
  readonly migration_id: bigint | null;
}

/** The migration of a question: the newest that has a snapshot, unless a page token or the request names one. */
export async function findMigration(
  store: HoldingsStore,
  { migration_id }: OfMigration,
  after: PageStart | null,
): Promise<SealedMigration> {
  const migrationId = after?.migrationId ?? migration_id;
  const found = await store.facts({ kind: 'migration', migrationId });
  if (found !== null) return found;
  throw new HoldingsFault(
    'no_snapshot_in',
    migrationId === null ? 'No snapshots found' : `No snapshots found in migration ${migrationId}`,
  );
}

/** The snapshot of a question: that of the page before, else the newest at or before the time. */
export async function findSnapshot(
  store: HoldingsStore,
  query: OfMigration & { readonly record_time: bigint | null },
  after: PageStart | null,
): Promise<{ readonly migration: SealedMigration; readonly snapshot: Snapshot; readonly fixed: boolean }> {
  const migration = await findMigration(store, query, after);
  const fixed = isFixed(migration, query, query.record_time);
  if (after === null && query.record_time === null) return { migration, snapshot: migration.newest, fixed };
  const choice = {
    migrationId: BigInt(migration.migrationId),
    recordTime: after?.snapshot ?? query.record_time,
    match: after === null ? 'at_or_before' : 'exact',
  } as const;
  const snapshot = await store.facts({ kind: 'snapshot', snapshot: choice });
  if (snapshot !== null) return { migration, snapshot, fixed };
  throw after === null ? snapshotFault(choice) : unknownToken(after);
}

/** Nothing is ever added at or before the newest snapshot. */
export function isFixed({ newest }: SealedMigration, { migration_id }: OfMigration, until: bigint | null): boolean {
  return migration_id !== null && until !== null && until <= BigInt(newest.recordTime);
}

/** Throws the fault of a range that ends before it begins, before anything is looked up. */
export function requireOrder({ from, to }: { readonly from: bigint | null; readonly to: bigint | null }): void {
  if (from === null || to === null || from <= to) return;
  const expected = `a time at or before "to", which is ${formatTime(to)}`;
  throw new HoldingsFault('wrong_parameter', `from: given ${formatTime(from)}, expected ${expected}`);
}

/** The times that a list may have, from the migration's first snapshot to its newest. */
export interface ListedRange {
  /** Both inclusive; `from` is after `to` where there are none. All pages end at the first page's `to`, which tokens hold. */
  readonly from: Micros;
  readonly to: Micros;
  /** Whether the same request will always have the same answer. */
  readonly fixed: boolean;
}

export function listedRange(
  migration: SealedMigration,
  { from, to, ...query }: OfMigration & { readonly from: bigint | null; readonly to: bigint | null },
  after: PageStart | null,
): ListedRange {
  const oldest = migration.oldest.recordTime;
  const newest = after === null ? migration.newest.recordTime : Number(after.snapshot);
  if (after !== null && (newest < oldest || newest > migration.newest.recordTime)) throw unknownToken(after);
  // A time that a double cannot represent exactly is far after those of snapshots.
  return {
    from: Math.max(oldest, Number(from ?? oldest)),
    to: Math.min(newest, Number(to ?? newest)),
    fixed: isFixed(migration, query, to),
  };
}

/** As above, after the last row of the page before. */
export function rangeAfter(
  { from, to }: Pick<ListedRange, 'from' | 'to'>,
  { order, after }: { readonly order: Order; readonly after: PageStart | null },
): { from: Micros; to: Micros } {
  if (after === null) return { from, to };
  const last = parseLedgerTime(after.last);
  if (last === null) throw unknownToken(after);
  return order === 'asc' ? { from: Math.max(from, last + 1), to } : { from, to: Math.min(to, last - 1) };
}

/** The fault of a token that no page of these views can have had. */
export function unknownToken({ migrationId, snapshot, last }: PageStart): HoldingsFault {
  const given = `a token of migration ${migrationId} at ${formatTime(snapshot)} behind ${showGiven(last)}`;
  return new HoldingsFault(
    'unknown_token',
    `after: given ${given}, expected a next_page_token of a page of these views`,
  );
}

import { formatDuration } from '../../ledger/duration.ts';
import { formatTime } from '../../ledger/time.ts';
import type { HoldingsStore } from '../facts.ts';
import { requireMultiple } from './every.ts';
import { pageOf } from './page-token.ts';
import { findMigration, listedRange, rangeAfter } from './place.ts';
import type { SnapshotsQuery } from './question.ts';
import { SNAPSHOT_COLUMNS, snapshotRow } from './rows.ts';
import type { Table } from './table.ts';

/** The snapshots of a migration, with the supply at each. */
export async function snapshotsTable(query: SnapshotsQuery, store: HoldingsStore): Promise<Table> {
  const { every, order: given, limit, after } = query;
  const order = given ?? 'desc';
  const migration = await findMigration(store, query, after);
  const { migrationId, periodUs, dso, seededAt } = migration;
  if (every !== null) requireMultiple(every, periodUs);
  const range = listedRange(migration, query, after);
  const found = await store.facts({
    kind: 'listed snapshots',
    migrationId,
    ...rangeAfter(range, { order, after }),
    every,
    order,
    rows: limit + 1,
  });
  const place = { table: 'snapshots', query, migrationId, snapshot: range.to } as const;
  // The DSO may be known only later.
  const fixed = range.fixed && dso !== null;
  const { rows, next } = pageOf(found, place, ({ recordTime }) => formatTime(recordTime));
  const head = {
    migration_id: migrationId,
    period: formatDuration(periodUs),
    dso,
    seeded_at: seededAt === null ? null : formatTime(seededAt),
  };
  return {
    head,
    rowsName: 'snapshots',
    columns: SNAPSHOT_COLUMNS,
    rows: rows.map(snapshotRow),
    next,
    snapshotDigest: fixed ? null : migration.newest.digest,
    fixed,
    about: [`migration ${migrationId}`],
  };
}

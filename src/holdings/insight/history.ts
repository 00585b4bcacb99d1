import { formatDuration } from '../../ledger/duration.ts';
import { formatTime } from '../../ledger/time.ts';
import type { HoldingsStore } from '../facts.ts';
import { isPartial, pointsOver, requireMultiple } from './every.ts';
import type { ChangesFacts } from './facts.ts';
import { type Grid, multiplesWithin } from './grid.ts';
import { pageOf } from './page-token.ts';
import { findMigration, listedRange, rangeAfter } from './place.ts';
import type { ChangesQuery, HistoryQuery } from './question.ts';
import { CHANGE_COLUMNS, changeRow, HISTORY_COLUMNS, partialPointRow, pointRow, type Row } from './rows.ts';
import type { Table } from './table.ts';

/** An owner's totals at points in time, computed from the owner's changes, and at the last snapshot. */
export async function historyTable(query: HistoryQuery, store: HoldingsStore): Promise<Table> {
  const { party, every } = query;
  const migration = await findMigration(store, query, null);
  const { migrationId, periodUs } = migration;
  if (every !== null) requireMultiple(every, periodUs);
  const { fixed, ...range } = listedRange(migration, query, null);
  const end = { migrationId: BigInt(migrationId), recordTime: BigInt(range.to), match: 'at_or_before' } as const;
  const { snapshot, owners } = await store.facts({ kind: 'owners', snapshot: end, owners: [party], round: null });
  const last = snapshot === null || snapshot.recordTime < range.from ? null : snapshot.recordTime;
  const points = pointsOver({ ...multiplesWithin(range, periodUs), last }, every);
  const lookup = { kind: 'changes', migrationId, party, ...points, order: 'asc', rows: Infinity } as const;
  const rows = points.from > points.to ? [] : pointRows(points, await store.facts(lookup));
  if (isPartial(last, points)) rows.push(partialPointRow(last, owners[0]!));
  const step = formatDuration(points.step);
  return {
    head: { migration_id: migrationId, party_id: party, every: step },
    rowsName: 'points',
    columns: HISTORY_COLUMNS,
    rows,
    fixed,
    about: [party, `migration ${migrationId}`, `every ${step}`],
  };
}

function pointRows(points: Grid, { before, changes }: ChangesFacts): Row[] {
  const rows: Row[] = [];
  let totals = before;
  let next = 0;
  for (let time = points.from; time <= points.to; time += points.step) {
    for (; next < changes.length && changes[next]!.recordTime <= time; next++) totals = changes[next]!.after;
    rows.push(pointRow(time, totals));
  }
  return rows;
}

/** The snapshots of the grid at which an owner's totals changed. */
export async function changesTable(query: ChangesQuery, store: HoldingsStore): Promise<Table> {
  const { party, order: given, limit, after } = query;
  const order = given ?? 'desc';
  const migration = await findMigration(store, query, after);
  const { migrationId, periodUs } = migration;
  const range = listedRange(migration, query, after);
  const grid = multiplesWithin(rangeAfter(range, { order, after }), periodUs);
  const about = { kind: 'changes', migrationId, party, from: grid.from, to: grid.to, order, rows: limit + 1 } as const;
  const changes = grid.from > grid.to ? [] : (await store.facts(about)).changes;
  const place = { table: 'changes', query, migrationId, snapshot: range.to } as const;
  const { rows, next } = pageOf(changes, place, ({ recordTime }) => formatTime(recordTime));
  return {
    head: { migration_id: migrationId, party_id: party },
    rowsName: 'changes',
    columns: CHANGE_COLUMNS,
    rows: rows.map(changeRow),
    next,
    snapshotDigest: range.fixed ? null : migration.newest.digest,
    fixed: range.fixed,
    about: [party, `migration ${migrationId}`],
  };
}

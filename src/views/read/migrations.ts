import type { Database } from 'better-sqlite3';
import type { ListedSnapshotsLookup, SealedMigration } from '../../holdings/facts.ts';
import { gridOf, multiplesWithin } from '../../holdings/snapshot-grid.ts';
import { prepareSnapshots, type StoredSnapshot, snapshotOf } from './snapshots.ts';

/** Migrations that have a snapshot, and lists of their snapshots. */
export interface MigrationReader {
  /** Null: the newest one. */
  find(migrationId: bigint | null): SealedMigration | null;
  list(lookup: ListedSnapshotsLookup): readonly StoredSnapshot[];
}

/** `? + 0`: see views/store/database.ts. */
export function createMigrationReader(db: Database): MigrationReader {
  const newestId = db.prepare<[], bigint | null>('SELECT max(migration_id) FROM snapshot').pluck().safeIntegers();
  const setting = db.prepare<[], { periodUs: number; dso: string | null }>(
    'SELECT period AS periodUs, dso FROM setting',
  );
  // A seed without its mark has no snapshot.
  const seededAt = db
    .prepare<[number], number | null>('SELECT seeded_at FROM migration WHERE migration_id = ?')
    .pluck();
  const oldest = prepareSnapshots<[bigint]>(db, 'WHERE migration_id = ? + 0 ORDER BY record_time LIMIT 1');
  const newest = prepareSnapshots<[bigint]>(db, 'WHERE migration_id = ? + 0 ORDER BY record_time DESC LIMIT 1');
  const exact = prepareSnapshots<[number, number]>(db, 'WHERE migration_id = ? AND record_time = ?');
  const between = (order: string) =>
    prepareSnapshots<[number, number, number, number]>(
      db,
      `WHERE migration_id = ? + 0 AND record_time BETWEEN ? AND ? ORDER BY record_time ${order} LIMIT ?`,
    );
  const inOrder = { asc: between('asc'), desc: between('desc') };

  function find(wanted: bigint | null): SealedMigration | null {
    const migrationId = wanted ?? newestId.get() ?? null;
    const last = migrationId === null ? null : snapshotOf(newest.get(migrationId));
    if (migrationId === null || last === null) return null;
    const { periodUs, dso } = setting.get()!;
    const first = snapshotOf(oldest.get(migrationId))!;
    const seeded = seededAt.get(last.migrationId) ?? null;
    return { migrationId: last.migrationId, periodUs, dso, seededAt: seeded, oldest: first, newest: last };
  }

  /** Those at the multiples of a time; their places are known, so no other is read. */
  function listEvery(every: number, { migrationId, order, rows, ...lookup }: ListedSnapshotsLookup): StoredSnapshot[] {
    const grid = gridOf(find(BigInt(migrationId))!);
    const range = { from: Math.max(lookup.from, grid.from), to: Math.min(lookup.to, grid.to) };
    const { from, to } = multiplesWithin(range, every);
    const found: StoredSnapshot[] = [];
    for (let past = 0; from + past <= to && found.length < rows; past += every)
      found.push(snapshotOf(exact.get(migrationId, order === 'asc' ? from + past : to - past))!);
    return found;
  }

  return {
    find,
    list(lookup) {
      const { migrationId, from, to, every, order, rows } = lookup;
      if (every !== null) return listEvery(every, lookup);
      return inOrder[order].all(migrationId, from, to, rows).map((row) => snapshotOf(row)!);
    },
  };
}

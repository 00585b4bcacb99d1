import type { Database } from 'better-sqlite3';
import type { Change, OwnersChangesLookup, StreamFactKinds } from '../../holdings/insight/facts.ts';
import { multiplesWithin } from '../../holdings/insight/grid.ts';
import type { ReadKinds } from './budget.ts';
import { createGridReader } from './grid.ts';
import { createMigrationReader } from './migrations.ts';
import { changesBetween } from './owner-changes.ts';
import { prepareSnapshots, type SnapshotReader, snapshotOf } from './snapshots.ts';
import { createVersionReader } from './versions.ts';

/** Readers of the facts of streams, each a few rows for each thing that is named. `? + 0`: see views/store/database.ts. */
export function createStreamReaders(db: Database, snapshots: SnapshotReader): ReadKinds<keyof StreamFactKinds> {
  const last = prepareSnapshots<[]>(db, 'WHERE no = (SELECT max(no) FROM snapshot)');
  const sealed = prepareSnapshots<[number, number, number]>(db, 'WHERE no > ? + 0 AND no <= ? + 0 ORDER BY no LIMIT ?');
  const migrationIds = db.prepare<[], number>('SELECT migration_id FROM migration').pluck();
  // Within a migration the places are in the order of the times, so this looks at the newest one, and at those sealed since.
  const lastNoBefore = db
    .prepare<[number, number], number>(
      'SELECT no FROM snapshot WHERE migration_id = ? + 0 AND no < ? ORDER BY record_time DESC LIMIT 1',
    )
    .pluck();
  const ownerNo = db
    .prepare<[number, string], number>('SELECT id FROM owner WHERE migration_id = ? AND party = ?')
    .pluck();
  const versions = createVersionReader(db);
  const migrations = createMigrationReader(db);
  const gridOf = createGridReader(db);

  function changesOfOwners({ migrationId, owners, ...times }: OwnersChangesLookup): readonly (readonly Change[])[] {
    const migration = migrations.find(BigInt(migrationId));
    const grid = migration && gridOf(migration);
    if (grid === null) return owners.map(() => []);
    const { from, to } = multiplesWithin(times, migration!.periodUs);
    return owners.map((party) => {
      const owner = from > to ? undefined : ownerNo.get(migrationId, party);
      return owner === undefined ? [] : changesBetween(versions, owner, { from, to, grid });
    });
  }

  return {
    'last sealed': () => snapshotOf(last.get()),
    'sealed place': (place) => snapshots.find({ ...place, match: 'exact' })?.no ?? null,
    'sealed snapshots': ({ after, until, rows }) => sealed.all(after, until, rows).map((row) => snapshotOf(row)!),
    'sealed migrations': ({ after, before }) =>
      migrationIds.all().filter((migrationId) => (lastNoBefore.get(migrationId, before) ?? 0) > after),
    'changes of owners': changesOfOwners,
  };
}

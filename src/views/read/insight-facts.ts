import type { Database } from 'better-sqlite3';
import {
  type Change,
  NO_COIN,
  type OwnersChangesLookup,
  type PartyTotals,
  type SnapshotPlace,
  type StreamFactKinds,
  type TableFactKinds,
} from '../../holdings/facts.ts';
import { multiplesWithin } from '../../holdings/snapshot-grid.ts';
import { NOT_BOUNDED, type ReadKinds, requireUnbounded } from './budget.ts';
import { createGridReader, type SealedGrid } from './grid.ts';
import { createOwnerList } from './listed-owners.ts';
import { createMigrationReader } from './migrations.ts';
import { changesBetween, readChanges } from './owner-changes.ts';
import { rankOwners } from './ranking.ts';
import { prepareSnapshots, type SnapshotReader, type StoredSnapshot, snapshotOf } from './snapshots.ts';
import { createVersionReader } from './versions.ts';

/** Readers of the facts of tables and streams; of a stream's each reads a few rows for each thing that is named. */
export function createInsightReaders(
  db: Database,
  snapshots: SnapshotReader,
): ReadKinds<keyof TableFactKinds | keyof StreamFactKinds> {
  const last = prepareSnapshots<[]>(db, 'WHERE no = (SELECT max(no) FROM snapshot)');
  // `? + 0`: see views/store/database.ts.
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
  const partyOf = db.prepare<[number], string>('SELECT party FROM owner WHERE id = ?').pluck();
  const versions = createVersionReader(db);
  const migrations = createMigrationReader(db);
  const gridOf = createGridReader(db);
  const listOwners = createOwnerList(db, versions);

  function requireSnapshot({ migrationId, recordTime }: SnapshotPlace): StoredSnapshot {
    const choice = { migrationId: BigInt(migrationId), recordTime: BigInt(recordTime), match: 'exact' } as const;
    const snapshot = snapshots.find(choice);
    if (snapshot === null) throw new Error(`migration ${migrationId} has no snapshot at ${recordTime}`);
    return snapshot;
  }

  function gridIn(migrationId: number): SealedGrid | null {
    const migration = migrations.find(BigInt(migrationId));
    return migration === null ? null : gridOf(migration);
  }

  function totalsOf(owner: number, seq: number): PartyTotals {
    const party = partyOf.get(owner);
    if (party === undefined) throw new Error(`owner ${owner} is not in views.db`);
    return { party, ...(versions.at(owner, seq)?.totals ?? NO_COIN) };
  }

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
    migration: ({ migrationId }) => migrations.find(migrationId),
    'listed snapshots': (lookup) => migrations.list(lookup),
    changes: (lookup, budget) => {
      requireUnbounded(budget);
      const owner = ownerNo.get(lookup.migrationId, lookup.party);
      const grid = gridIn(lookup.migrationId);
      if (owner === undefined || grid === null) return { before: NO_COIN, changes: [] };
      return readChanges(versions, owner, { ...lookup, grid });
    },
    'listed owners': (lookup, budget) => {
      requireUnbounded(budget);
      const grid = gridIn(lookup.migrationId);
      return grid === null ? [] : listOwners({ ...lookup, grid, seq: requireSnapshot(lookup).seq });
    },
    ranking: (lookup, budget) => {
      requireUnbounded(budget);
      return rankOwners(db, requireSnapshot(lookup), versions);
    },
    'numbered owners': (lookup, budget) => {
      if (lookup.owners.length > budget.rows) throw NOT_BOUNDED;
      const { seq } = requireSnapshot(lookup);
      return lookup.owners.map((owner) => totalsOf(owner, seq));
    },
    'last sealed': () => snapshotOf(last.get()),
    'sealed place': (place) => snapshots.find({ ...place, match: 'exact' })?.no ?? null,
    'sealed snapshots': ({ after, until, rows }) => sealed.all(after, until, rows).map((row) => snapshotOf(row)!),
    'sealed migrations': ({ after, before }) =>
      migrationIds.all().filter((migrationId) => (lastNoBefore.get(migrationId, before) ?? 0) > after),
    'changes of owners': changesOfOwners,
  };
}

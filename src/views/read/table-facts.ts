import type { Database } from 'better-sqlite3';
import type { PartyTotals, SnapshotPlace, TableFactKinds } from '../../holdings/insight/facts.ts';
import { NOT_BOUNDED, type ReadKinds, requireUnbounded } from './budget.ts';
import { createGridReader, type SealedGrid } from './grid.ts';
import { createOwnerList } from './listed-owners.ts';
import { createMigrationReader } from './migrations.ts';
import { readChanges } from './owner-changes.ts';
import { rankOwners } from './ranking.ts';
import type { SnapshotReader, StoredSnapshot } from './snapshots.ts';
import { createVersionReader, NO_COIN } from './versions.ts';

/** Readers of the facts of tables. */
export function createTableReaders(db: Database, snapshots: SnapshotReader): ReadKinds<keyof TableFactKinds> {
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
  };
}

import type { Database } from 'better-sqlite3';
import { idText, type StoredId, storedId } from '../ledger/pack/id.ts';
import type { Micros } from '../ledger/time.ts';

/** The last update applied of one synchronizer. */
export interface SynchronizerState {
  recordTime: Micros;
  updateId: StoredId;
  changed: boolean;
}

/** A migration's clock, open interval and supply (design.md sections 5 and 6). */
export interface MigrationState {
  readonly migrationId: number;
  openSeq: number;
  /** The record time reached; null until an update that is no import. */
  timeReached: Micros | null;
  /** The largest record time of an update applied: where a forced snapshot lies. */
  updateTime: Micros | null;
  /** The next grid time to seal. */
  nextGrid: Micros | null;
  contracts: number;
  owners: number;
  unlocked: bigint;
  locked: bigint;
  readonly synchronizers: Map<string, SynchronizerState>;
}

/** How far one partition was read; `checkpoints` holds the newest time per `<migration> <synchronizer>` (section 6, rule 1). */
export interface PartitionState {
  source: string;
  nextOffset: number;
  sha256: Buffer | null;
  readonly checkpoints: Map<string, Micros>;
}

/** All that the writer keeps in memory beside its caches. Every part is stored in the transaction that changes it. */
export interface WriterState {
  readonly migrations: Map<number, MigrationState>;
  readonly partitions: Map<number, PartitionState>;
  dso: string | null;
  /** Whether an operator named the DSO; otherwise it is the first seen. */
  readonly dsoPinned: boolean;
  sourceMigrationId: number | null;
  nextNo: number;
  nextOwner: number;
}

interface MigrationRow extends Omit<MigrationState, 'unlocked' | 'locked' | 'synchronizers'> {
  unlocked: string;
  locked: string;
}

export function loadState(db: Database): WriterState {
  const setting = db
    .prepare<[], Pick<WriterState, 'dso' | 'sourceMigrationId' | 'nextNo' | 'nextOwner'> & { dsoPinned: number }>(
      `SELECT dso, dso_pinned AS dsoPinned, source_migration_id AS sourceMigrationId, next_no AS nextNo, next_owner AS nextOwner FROM setting`,
    )
    .get();
  if (setting === undefined) throw new Error('views.db has no settings row');
  const dsoPinned = setting.dsoPinned === 1;
  return { ...setting, dsoPinned, migrations: loadMigrations(db), partitions: loadPartitions(db) };
}

function loadMigrations(db: Database): Map<number, MigrationState> {
  const migrations = new Map<number, MigrationState>();
  const rows = db.prepare<[], MigrationRow>(
    `SELECT migration_id AS migrationId, open_seq AS openSeq, time_reached AS timeReached, update_time AS updateTime,
       next_grid AS nextGrid, contracts, owners, unlocked, locked FROM migration ORDER BY migration_id`,
  );
  for (const row of rows.all()) {
    const supply = { unlocked: BigInt(row.unlocked), locked: BigInt(row.locked) };
    migrations.set(row.migrationId, { ...row, ...supply, synchronizers: new Map() });
  }
  const synchronizers = db.prepare<[], { migrationId: number; name: string; recordTime: number; updateId: StoredId }>(
    `SELECT migration_id AS migrationId, synchronizer_id AS name, record_time AS recordTime, update_id AS updateId FROM synchronizer`,
  );
  for (const { migrationId, name, recordTime, updateId } of synchronizers.all()) {
    migrations.get(migrationId)?.synchronizers.set(name, { recordTime, updateId, changed: false });
  }
  return migrations;
}

function loadPartitions(db: Database): Map<number, PartitionState> {
  const rows = db.prepare<
    [],
    { partition: number; source: string; nextOffset: number; sha256: Buffer | null; checkpoints: string }
  >('SELECT partition, source, next_offset AS nextOffset, sha256, checkpoints FROM position');
  const entries = rows.all().map(({ partition, checkpoints, ...row }): [number, PartitionState] => {
    const times = Object.entries(JSON.parse(checkpoints) as Record<string, number>);
    return [partition, { ...row, checkpoints: new Map(times) }];
  });
  return new Map(entries);
}

export function newMigration(migrationId: number): MigrationState {
  return {
    migrationId,
    openSeq: 1,
    timeReached: null,
    updateTime: null,
    nextGrid: null,
    contracts: 0,
    owners: 0,
    unlocked: 0n,
    locked: 0n,
    synchronizers: new Map(),
  };
}

/** Writes the whole state back; called inside the batch's transaction. */
export function createStateSaver(db: Database): (state: WriterState) => void {
  const setting = db.prepare('UPDATE setting SET dso = ?, source_migration_id = ?, next_no = ?, next_owner = ?');
  const migration = db.prepare('INSERT OR REPLACE INTO migration VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const synchronizer = db.prepare('INSERT OR REPLACE INTO synchronizer VALUES (?, ?, ?, ?)');
  const position = db.prepare('INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?, ?)');
  return (state) => {
    setting.run(state.dso, state.sourceMigrationId, state.nextNo, state.nextOwner);
    for (const m of state.migrations.values()) {
      const supply = [m.contracts, m.owners, m.unlocked.toString(), m.locked.toString()];
      migration.run(m.migrationId, m.openSeq, m.timeReached, m.updateTime, m.nextGrid, ...supply);
      for (const [name, last] of m.synchronizers) {
        if (!last.changed) continue;
        synchronizer.run(m.migrationId, name, last.recordTime, storedId(idText(last.updateId)));
        last.changed = false;
      }
    }
    for (const [partition, p] of state.partitions) {
      position.run(partition, p.source, p.nextOffset, p.sha256, JSON.stringify(Object.fromEntries(p.checkpoints)));
    }
  };
}

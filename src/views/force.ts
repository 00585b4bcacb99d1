import type { Database } from 'better-sqlite3';
import type { Batch } from './batch.ts';

export interface Forced {
  readonly migrationId: number;
  readonly recordTime: number;
  /** Whether a new snapshot was sealed; false: the newest one was there already. */
  readonly sealed: boolean;
}

/**
 * Seals a snapshot at the largest record time applied in the newest migration that has an update other than an import; where a
 * snapshot lies there or later, that one is the answer (design.md section 6, rule 12). `commit` puts it on disk.
 */
export function forceSnapshot(db: Database, batch: Batch, periodUs: number, commit: () => void): Forced | null {
  const newest = [...batch.state.migrations.values()]
    .filter((each) => each.updateTime !== null)
    .sort((a, b) => b.migrationId - a.migrationId)[0];
  if (newest === undefined) return null;
  const last = db
    .prepare<[number], number | null>('SELECT max(record_time) FROM snapshot WHERE migration_id = ?')
    .pluck()
    .get(newest.migrationId);
  const recordTime = newest.updateTime!;
  if (last !== undefined && last !== null && last >= recordTime) {
    return { migrationId: newest.migrationId, recordTime: last, sealed: false };
  }
  batch.seals.seal(newest, recordTime, true);
  if (newest.nextGrid === recordTime) newest.nextGrid += periodUs;
  commit();
  return { migrationId: newest.migrationId, recordTime, sealed: true };
}

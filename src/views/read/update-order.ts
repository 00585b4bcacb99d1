import { openForReading } from '../store/database.ts';

/** What makes the order of a migration's updates depend on how they were read (docs/digest.md). */
export interface UpdateOrder {
  readonly migrationId: number;
  readonly synchronizers: number;
  /** Updates that were applied at the time of the one before them. */
  readonly repairs: number;
}

/** Of each migration that has an update. */
export function readUpdateOrder(dataDir: string): readonly UpdateOrder[] {
  const db = openForReading(dataDir);
  try {
    return db
      .prepare<[], UpdateOrder>(
        `SELECT migration_id AS migrationId, count(*) AS synchronizers, sum(repairs) AS repairs
         FROM synchronizer GROUP BY migration_id`,
      )
      .all();
  } finally {
    db.close();
  }
}

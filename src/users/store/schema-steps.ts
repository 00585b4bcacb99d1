import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { Refusal } from '../../refusal.ts';
import { FIRST_TABLES } from './schema.ts';

/** One step of the schema. Its statements never change once released: a change is a new step at the end. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

const MIGRATIONS: readonly Migration[] = [{ name: 'first tables', sql: FIRST_TABLES }];

const MIGRATIONS_TABLE = `
CREATE TABLE IF NOT EXISTS migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT`;

interface AppliedRow {
  readonly version: number;
  readonly checksum: string;
}

/**
 * Brings users.db to this program's schema, all steps in one transaction. Throws a Refusal, with nothing changed, where
 * a newer program wrote the file or an applied step is not the one this program knows.
 */
export function migrate(
  db: Database,
  { file, migrations = MIGRATIONS }: { file: string; migrations?: readonly Migration[] },
): void {
  db.transaction(() => {
    db.exec(MIGRATIONS_TABLE);
    const applied = db.prepare<[], AppliedRow>('SELECT version, checksum FROM migration ORDER BY version').all();
    if (applied.length > migrations.length)
      throw new Refusal(
        `${file} has version ${applied.length}, written by a newer holdfast; ` +
          `this one knows ${migrations.length}: use the newer program`,
      );
    const insert = db.prepare('INSERT INTO migration (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)');
    migrations.forEach((migration, index) => {
      const version = index + 1;
      const checksum = hash('sha256', migration.sql);
      const row = applied[index];
      if (row === undefined) {
        db.exec(migration.sql);
        insert.run(version, migration.name, checksum, new Date().toISOString());
      } else if (row.version !== version || row.checksum !== checksum) {
        throw new Refusal(
          `${file}: migration ${row.version} was applied in another form than this program has: ` +
            'use the program that wrote the file',
        );
      }
    });
  }).immediate();
}

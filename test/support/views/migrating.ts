import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { migrateViews } from '../../../src/views/store/migrations.ts';

/** Migrates the views of a directory in slices of so many rows: to the end, or so many transactions of it. Returns their number. */
export function migrate(dataDir: string, { sliceRows, most = Infinity }: { sliceRows: number; most?: number }): number {
  let transactions = 0;
  if (most === 0) return 0;
  for (const _ of migrateViews(dataDir, { onBegin: () => {}, sliceRows })) {
    transactions += 1;
    if (transactions === most) break;
  }
  return transactions;
}

export function versionOf(dataDir: string): number {
  return reading(dataDir, (db) => db.pragma('user_version', { simple: true }) as number);
}

/** What a file's tables and indexes are made of, by name, without comments. */
export function schemaOf(dataDir: string): Record<string, string> {
  return reading(dataDir, (db) => {
    const rows = db.prepare<[], [string, string]>(
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'view' ORDER BY name",
    );
    const plain = (sql: string): string =>
      sql
        .replaceAll(/--.*$/gm, '')
        .replaceAll(/["\s]+/g, ' ')
        .replaceAll(/ ?([(),]) ?/g, '$1');
    return Object.fromEntries(
      rows
        .raw()
        .all()
        .map(([name, sql]) => [name, plain(sql)]),
    );
  });
}

function reading<T>(dataDir: string, read: (db: DatabaseFile.Database) => T): T {
  const db = new DatabaseFile(join(dataDir, 'views.db'), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

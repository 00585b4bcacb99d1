import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';

/** Where the feed was read to, and what could not be applied: equal only where the sources are. */
const OF_THE_SOURCE = ['position', 'dead_letter'];
/** Made at random with the directory, or given by the source and its format. */
const SETTINGS_LEFT_OUT = ['directory_id', 'feed', 'followed', 'source_migration_id', 'tokens'];

/** What depends on where transactions end, once an epoch is closed. */
const OF_EPOCHS = ['epoch', 'account_epochs', 'gone'];
const EPOCH_COLUMNS = ['epoch', 'open_epoch'];

/** Every row of every table of the views that the feed alone decides, as text, in order; for comparing two directories. */
export function dumpViews(dataDir: string, epochs = true): Record<string, string[]> {
  return reading(dataDir, (db) => {
    const tables = db
      .prepare<[], string>(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
      )
      .pluck()
      .all();
    const leftOut = epochs ? OF_THE_SOURCE : [...OF_THE_SOURCE, ...OF_EPOCHS];
    const compared = tables.filter((table) => !leftOut.includes(table));
    return Object.fromEntries(compared.map((table) => [table, dumpTable(db, table, epochs)]));
  });
}

/** The same without epochs: equal wherever transactions end and epochs are closed. */
export const dumpRows = (dataDir: string): Record<string, string[]> => dumpViews(dataDir, false);

/** Closed epochs, rows of `gone`, and archived coins of closed epochs whose rows of `held` were cleared. */
export function epochFacts(dataDir: string): Record<'closed' | 'gone' | 'cleared', number> {
  return reading(
    dataDir,
    (db) =>
      db
        .prepare<[], Record<'closed' | 'gone' | 'cleared', number>>(
          `SELECT (SELECT count(*) - 1 FROM epoch) AS closed, (SELECT count(*) FROM gone) AS gone, count(*) AS cleared FROM spent s
           WHERE epoch > (SELECT max(no) FROM epoch WHERE first_no <= s.no) AND no NOT IN (SELECT no FROM gone)`,
        )
        .get()!,
  );
}

/** The DSO whose coins count, once one is known. */
export function storedDso(dataDir: string): string | null {
  return reading(dataDir, (db) => db.prepare<[], string | null>('SELECT dso FROM setting').pluck().get() ?? null);
}

/** The next line or element of the newest feed file, or the next offset of a partition. */
export function storedOffset(dataDir: string, lane = 'file'): number | null {
  const select = 'SELECT CAST(cursor AS INTEGER) FROM position WHERE lane = ?';
  return reading(dataDir, (db) => db.prepare<[string], number>(select).pluck().get(lane) ?? null);
}

function reading<T>(dataDir: string, read: (db: DatabaseFile.Database) => T): T {
  const db = new DatabaseFile(join(dataDir, 'views.db'), { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** The open items of each migration: sorted, each that occurs an odd number of times; how they are split says nothing. */
function dumpOpenItems(db: DatabaseFile.Database, table: string): string[] {
  const open = new Set<string>();
  const rows = db.prepare<[], { id: number; items: Buffer }>(`SELECT migration_id AS id, items FROM ${table}`);
  for (const { id, items } of rows.iterate()) {
    for (const item of items.toString('hex').match(/.{64}/g) ?? []) {
      if (!open.delete(`${id} ${item}`)) open.add(`${id} ${item}`);
    }
  }
  return [...open].sort();
}

function dumpTable(db: DatabaseFile.Database, table: string, epochs: boolean): string[] {
  if (table === 'open_items' || table === 'open_token_items') return dumpOpenItems(db, table);
  const columns = db
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
    .pluck()
    .all(table)
    .filter((name) => table !== 'setting' || !SETTINGS_LEFT_OUT.includes(name))
    .filter((name) => epochs || !EPOCH_COLUMNS.includes(name))
    .join(', ');
  const where = table === 'held' && !epochs ? 'WHERE no NOT IN (SELECT no FROM gone)' : '';
  const rows = db
    .prepare<[], unknown[]>(`SELECT ${columns} FROM ${table} ${where} ORDER BY ${columns}`)
    .raw()
    .safeIntegers();
  return rows.all().map((row) => row.map(cell).join(' | '));
}

function cell(value: unknown): string {
  if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

import { existsSync, statfsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { Refusal } from '../../refusal.ts';
import { migrationFrom, openWritable, versionOf, viewsFile } from './database.ts';
import { MIGRATION_12 } from './migrate-12.ts';
import { MIGRATION_13 } from './migrate-13.ts';
import { dropSqlViews } from './sql-views.ts';
import { OLDEST_MIGRATED, UNDER_WAY } from './views-schema.ts';
import { lockForWriting } from './writer-lock.ts';

/** What brings views.db from one version of its tables to the next. */
export interface Migration {
  /** SQL of the first transaction: all that is small. */
  readonly begin: string;
  /** Tables whose rows are then moved, slice by slice. What is left of them says how far it came; the last transaction drops them. */
  readonly moved: readonly MovedTable[];
  /** The tables and indexes of before whose pages are not given back as their rows are moved. */
  readonly unordered: readonly string[];
}

interface MovedTable {
  readonly table: string;
  readonly key: readonly string[];
  /** Statements that move the rows of `slice`, in the order of the key. */
  readonly into: readonly string[];
}

const MIGRATIONS: readonly Migration[] = [MIGRATION_12, MIGRATION_13];

/** Rows of a transaction. In between requests are answered, so it is short. */
const SLICE_ROWS = 5_000;
/** Pages in the write-ahead log before a checkpoint: most are written once, so a longer log saves nothing. */
const LOG_PAGES = 10_000;
/** The log, whose last slice may have a page for each row, and what is not yet free of the pages of moved rows. */
const ROOM_BYTES = 128 * 2 ** 20;

/** A migration that begins: how much room it needs besides views.db, and how much there is. */
export type MigrationBegun = Readonly<Record<'from' | 'to' | 'neededBytes' | 'freeBytes', number>>;

export type MigrationStep = Readonly<Record<'from' | 'to' | 'percent', number>>;

/**
 * Brings views.db to this program's tables, where there are migrations from its own; yields after each transaction. It may end at any
 * of them, and the next call continues. Throws a Refusal where another process writes, or there is no room.
 */
export function* migrateViews(
  dataDir: string,
  { onBegin, sliceRows = SLICE_ROWS }: { onBegin: (begun: MigrationBegun) => void; sliceRows?: number },
): Generator<MigrationStep> {
  if (!existsSync(viewsFile(dataDir))) return;
  using _lock = lockForWriting(dataDir);
  const db = openWritable(dataDir);
  try {
    db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    for (;;) {
      const from = migrationFrom(versionOf(db));
      if (from === null) return;
      const migration = MIGRATIONS[from - OLDEST_MIGRATED]!;
      if (versionOf(db) === from) {
        onBegin(requireRoom(db, dataDir, from, migration.unordered));
        inTransaction(db, from * UNDER_WAY, () => {
          dropSqlViews(db);
          db.exec(migration.begin);
        });
      }
      for (const percent of moveRows(db, from, migration.moved, sliceRows)) yield { from, to: from + 1, percent };
      inTransaction(db, from + 1, () => {
        for (const { table } of migration.moved) db.exec(`DROP TABLE ${table}`);
      });
      yield { from, to: from + 1, percent: 100 };
    }
  } finally {
    db.close();
  }
}

function inTransaction<T>(db: Database, version: number, body: () => T): T {
  return db
    .transaction(() => {
      const result = body();
      db.pragma(`user_version = ${version}`);
      return result;
    })
    .immediate();
}

/** A page that a moved row leaves is used for the next ones, so views.db hardly grows. */
function requireRoom(db: Database, dataDir: string, from: number, unordered: readonly string[]): MigrationBegun {
  const size = db
    .prepare<[string], number | null>('SELECT sum(pgsize) FROM dbstat WHERE aggregate = 1 AND name = ?')
    .pluck();
  const neededBytes = unordered.reduce((sum, name) => sum + (size.get(name) ?? 0), ROOM_BYTES);
  const { bavail, bsize } = statfsSync(dataDir);
  const begun = { from, to: from + 1, neededBytes, freeBytes: bavail * bsize };
  if (begun.freeBytes >= neededBytes) return begun;
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
  throw new Refusal(
    `--data ${dataDir}: to migrate views.db from version ${from} of the tables to ${from + 1}, ${megabytes(neededBytes)} must be ` +
      `free on its disk, and ${megabytes(begun.freeBytes)} are: make room and start it again; nothing was changed`,
  );
}

/** Moves what is left of the tables, and yields the percentage done of the migration. */
function* moveRows(db: Database, from: number, tables: readonly MovedTable[], sliceRows: number): Generator<number> {
  const before = versionOf(db) % UNDER_WAY;
  const count = (table: string): number => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!;
  const total = tables.reduce((sum, { table }) => sum + count(table), 0);
  let percent = before;
  yield percent;
  for (let i = 0, done = 0; i < tables.length; i++) {
    const move = createMover(db, tables[i]!, sliceRows);
    for (;;) {
      const moved = inTransaction(db, from * UNDER_WAY + percent, move);
      if (moved === 0) break;
      done += moved;
      percent = Math.min(99, before + Math.floor(((100 - before) * done) / total));
      yield percent;
    }
  }
}

/** Returns the function that moves the next rows of a table, and says how many. */
function createMover(db: Database, { table, key, into }: MovedTable, sliceRows: number): () => number {
  const columns = key.join(', ');
  const keys = `SELECT ${columns} FROM ${table} ORDER BY`;
  const descending = key.map((column) => `${column} DESC`).join(', ');
  const lastOfSlice = db.prepare<[number], number[]>(`${keys} ${columns} LIMIT 1 OFFSET ?`).raw();
  const lastOfAll = db.prepare<[], number[]>(`${keys} ${descending} LIMIT 1`).raw();
  const upTo = `WHERE (${columns}) <= (${key.map(() => '?').join(', ')})`;
  const slice = `WITH slice AS NOT MATERIALIZED (SELECT * FROM ${table} ${upTo} ORDER BY ${columns})`;
  const inserts = into.map((statement) => db.prepare<number[]>(`${slice} ${statement}`));
  const remove = db.prepare<number[]>(`DELETE FROM ${table} ${upTo}`);
  return () => {
    const last = lastOfSlice.get(sliceRows - 1) ?? lastOfAll.get();
    if (last === undefined) return 0;
    for (const insert of inserts) insert.run(...last);
    return remove.run(...last).changes;
  };
}

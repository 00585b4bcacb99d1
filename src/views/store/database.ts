import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { formatDuration } from '../../ledger/duration.ts';
import { COIN_INSTRUMENT } from '../../ledger/templates.ts';
import { makeDatabasePrivate } from '../../private-file.ts';
import { PassingRefusal, Refusal } from '../../refusal.ts';
import { makeSqlViews } from './sql-views.ts';
import { createTables, OLDEST_MIGRATED, SCHEMA_VERSION, UNDER_WAY } from './views-schema.ts';

/** Settings that are fixed when a data directory is created, and those that an operator may give later. */
export interface DirectorySettings {
  /** Null where it was not given: the stored one counts, or the default in a new directory. */
  readonly snapshotPeriodUs: number | null;
  readonly dso: string | null;
  /** The migration of a source whose messages name none. */
  readonly migrationId: number | null;
  /** Null or absent where it was not given: what is stored counts. */
  readonly tokens?: 'on' | 'off' | null;
}

export const PERIOD_DEFAULT_US = 600_000_000;
/** Pages in the write-ahead log before a checkpoint: with more, a page that changes often is written to the database less often. */
const LOG_PAGES = { least: 20_000, most: 100_000 };
/** A page of 4096 bytes and what the log says of it. */
const LOG_PAGE_BYTES = 4_120;
const CACHE_KIB = 64 * 1024;
/** A server reads by several connections; pages that one has dropped are mostly still in the system's cache. */
const READING_CACHE_KIB = 16 * 1024;

/*
 * SQLite with STAT4 looks at the value bound to `column = ?` where an ORDER BY or a join follows, and compiles the statement again
 * whenever another value is bound: 4 us instead of 0.5, 60 instead of 10 for a join. It does not do so for `? + 0`, or `? || ''`,
 * which use the same index.
 */

export function viewsFile(dataDir: string): string {
  return join(dataDir, 'views.db');
}

/** What becomes views.db when a restore is complete. */
export function partialViewsFile(dataDir: string): string {
  return `${viewsFile(dataDir)}.partial`;
}

/** An interrupted restore may have left users without views: such a directory must not be used as if it were new. */
function refuseHalfRestored(dataDir: string): void {
  if (existsSync(viewsFile(dataDir)) || !existsSync(partialViewsFile(dataDir))) return;
  throw new Refusal(`--data ${dataDir}: a restore into it was interrupted; empty it and restore the backup again`);
}

export function makeDataDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Refusal(`--data ${dataDir}: the directory cannot be created (${(error as Error).message})`, {
      cause: error,
    });
  }
}

/** Opens views.db for writing, creates it if missing, and compares the given settings with the stored ones. */
export function openForWriting(dataDir: string, settings: DirectorySettings): Database {
  refuseHalfRestored(dataDir);
  const db = openWritable(dataDir);
  return prepared(db, () =>
    db
      .transaction(() => {
        if (versionOf(db) === 0) makeTables(db, settings);
        checkVersion(db, viewsFile(dataDir));
        checkSettings(db, settings);
        makeSqlViews(db);
      })
      .immediate(),
  );
}

/** Opens views.db as a writer does, whatever its tables are. */
export function openWritable(dataDir: string): Database {
  const file = viewsFile(dataDir);
  makeDatabasePrivate(file);
  const db = new DatabaseFile(file);
  return prepared(db, () => {
    db.pragma('page_size = 4096');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    boundLog(db);
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma('temp_store = MEMORY');
    db.pragma('busy_timeout = 5000');
  });
}

function prepared(db: Database, prepare: () => void): Database {
  try {
    prepare();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Lets the write-ahead log grow to half the size of the database, within bounds, and has it cut to that after a long read. */
export function boundLog(db: Database): void {
  const pages = db.pragma('page_count', { simple: true }) as number;
  const bound = Math.min(Math.max(Math.floor(pages / 2), LOG_PAGES.least), LOG_PAGES.most);
  db.pragma(`wal_autocheckpoint = ${bound}`);
  db.pragma(`journal_size_limit = ${bound * LOG_PAGE_BYTES}`);
}

export function requireViews(dataDir: string): void {
  try {
    statSync(viewsFile(dataDir));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new Refusal(`--data ${dataDir}: cannot be read (${message})`, { cause: error });
    refuseHalfRestored(dataDir);
    throw new Refusal(`--data ${dataDir}: there is no views.db in it; replay a feed into it first`);
  }
}

/** Opens views.db for reading. A missing directory is refused, and nothing is created. */
export function openForReading(dataDir: string): Database {
  requireViews(dataDir);
  const file = viewsFile(dataDir);
  const db = new DatabaseFile(file, { readonly: true, fileMustExist: true });
  return prepared(db, () => {
    db.pragma('busy_timeout = 5000');
    db.pragma(`cache_size = -${READING_CACHE_KIB}`);
    checkVersion(db, file);
  });
}

function makeTables(db: Database, { snapshotPeriodUs, dso }: DirectorySettings): void {
  createTables(db);
  const pinned = dso === null ? 0 : 1;
  // The migration id is stored once a source whose messages name none is read.
  const setting = [randomUUID(), snapshotPeriodUs ?? PERIOD_DEFAULT_US, dso, pinned];
  db.prepare('INSERT INTO setting VALUES (1, ?, ?, NULL, ?, ?, 1, 1, NULL, 0, 1, NULL, NULL)').run(setting);
}

/** Throws a Refusal where the tables are not this program's; it passes by itself once a migration has ended. */
export function checkVersion(db: Database, file: string): void {
  const version = versionOf(db);
  if (version === SCHEMA_VERSION) return;
  if (version === 0) throw new Refusal(`${file} has no tables yet; replay a feed into the directory first`);
  const from = migrationFrom(version);
  if (from !== null && version !== from)
    throw new PassingRefusal(
      `${migratingText(from, version % UNDER_WAY)}: wait for its end; ` +
        'where no process migrates it, start `holdfast serve` on the directory, which continues',
    );
  const differs = `version ${version} of the tables, this program has ${SCHEMA_VERSION}`;
  if (from !== null)
    throw new PassingRefusal(`views.db has ${differs}: start \`holdfast serve\` on the directory, which migrates it`);
  const older = 'use the program that wrote it, or move it away and replay the feed; the users stay';
  const newer = 'use the newer program that wrote it';
  throw new Refusal(`${file} has ${differs}: ${version < SCHEMA_VERSION ? older : newer}`);
}

/** The version whose migration is to begin, or goes on; null where there is none. */
export function migrationFrom(version: number): number | null {
  const from = version < UNDER_WAY ? version : Math.floor(version / UNDER_WAY);
  return from >= OLDEST_MIGRATED && from < SCHEMA_VERSION ? from : null;
}

/** How far a migration is; clients read it, too. */
export function migratingText(from: number, percent: number): string {
  return `views.db is being migrated from version ${from} of the tables to ${from + 1}, ${percent} % done`;
}

export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/** Whether holdings of a DSO, named as the coin is, were ever counted as tokens. */
export function hasTokensOfCoin(db: Database, dso: string): boolean {
  const tokens = `SELECT 1 FROM migration m JOIN instrument i USING (migration_id) WHERE admin = ? || '' AND name = ? AND i.id IS NOT m.coin`;
  return db.prepare(tokens).get(dso, COIN_INSTRUMENT) !== undefined;
}

export function tokensOfCoin(dso: string): string {
  return `this directory has counted tokens named ${COIN_INSTRUMENT} of ${dso}, whose coins they are: begin a new directory with --dso ${dso}`;
}

function checkSettings(db: Database, { snapshotPeriodUs, dso, migrationId, tokens }: DirectorySettings): void {
  const stored = db
    .prepare<[], { period: number; dso: string | null; migrationId: number | null; tokens: number | null }>(
      'SELECT period, dso, source_migration_id AS migrationId, tokens FROM setting',
    )
    .get()!;
  const remedy = 'use another --data, or move views.db away and replay the feed with it';
  if (migrationId !== null && stored.migrationId !== null && migrationId !== stored.migrationId) {
    throw new Refusal(
      `--migration-id ${migrationId}: this directory has read a feed that names none as migration ${stored.migrationId}; ${remedy}`,
    );
  }
  if (snapshotPeriodUs !== null && snapshotPeriodUs !== stored.period) {
    const [given, made] = [formatDuration(snapshotPeriodUs), formatDuration(stored.period)];
    throw new Refusal(
      `--snapshot-period ${given}: this directory was created with ${made}; leave the option out, ${remedy}`,
    );
  }
  const has = stored.tokens === 1 ? 'on' : 'off';
  if (typeof tokens === 'string' && stored.tokens !== null && tokens !== has) {
    throw new Refusal(
      `--tokens ${tokens}: this directory was built with ${has}, which is fixed with its first update; leave the option out, ` +
        'or begin a new directory with another --data',
    );
  }
  if (dso === null) return;
  if (hasTokensOfCoin(db, dso)) throw new Refusal(`--dso ${dso}: ${tokensOfCoin(dso)}`);
  if (stored.dso !== null && stored.dso !== dso) {
    throw new Refusal(`--dso ${dso}: the views of this directory count the coins of ${stored.dso}; ${remedy}`);
  }
  db.prepare('UPDATE setting SET dso = ?, dso_pinned = 1').run(dso);
}

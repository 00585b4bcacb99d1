import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { isDamaged, isMachineError } from '../../machine-errors.ts';
import { makeDatabasePrivate } from '../../private-file.ts';
import { Refusal } from '../../refusal.ts';
import { type DirectoryMade, makeViews, versionOf, viewsFile } from '../store/database.ts';
import { sync } from './backup.ts';

/** What can be read of views before they are set aside; of a damaged file, or of another program's, perhaps nothing. */
export interface OldViews {
  /** Null where the file is no database that can be read. */
  readonly version: number | null;
  /** The directory's settings, as far as they can be read. The dso only where an operator named it: otherwise the feed gives it. */
  readonly made: Partial<DirectoryMade>;
}

/** Files of the damaged database, which would be taken for changes of the one that gets its name. */
const LOGS = ['-wal', '-shm'];

/** The caller has the writer's lock. */
export function readOldViews(dataDir: string): OldViews {
  const db = new DatabaseFile(viewsFile(dataDir), { fileMustExist: true });
  try {
    return { version: versionOf(db), made: readMade(db) };
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return { version: null, made: {} };
  } finally {
    db.close();
  }
}

/** Reads columns by name, because they differ between versions of the tables. */
function readMade(db: Database): Partial<DirectoryMade> {
  if (db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'setting'`).get() === undefined) return {};
  const row = db.prepare<[], Readonly<Record<string, unknown>>>('SELECT * FROM setting').get() ?? {};
  const { directory_id: directoryId, period, source_migration_id: migrationId, dso, dso_pinned: dsoPinned } = row;
  return {
    ...(typeof directoryId === 'string' && { directoryId }),
    ...(typeof period === 'number' && { snapshotPeriodUs: period }),
    ...(typeof migrationId === 'number' && { migrationId }),
    ...(typeof dso === 'string' && dsoPinned === 1 && { dso }),
  };
}

/**
 * Moves the write-ahead log into views.db and removes it, unless the file is damaged. This must be the last connection: another
 * one would delete the log of that name when it is closed, which is then the new file's.
 */
function leaveLog(dataDir: string): void {
  makeDatabasePrivate(viewsFile(dataDir));
  const db = new DatabaseFile(viewsFile(dataDir), { fileMustExist: true });
  try {
    db.pragma('journal_mode = DELETE');
  } catch (error) {
    if (isMachineError(error, 'locked'))
      throw new Refusal(`--data ${dataDir}: another process reads views.db; stop it first`, { cause: error });
    if (!isDamaged(error)) throw error;
  } finally {
    db.close();
  }
}

/**
 * Replaces views.db by empty views, and returns the name, not used before, under which the old file remains. Whenever this
 * ends or is interrupted, views.db is the old file or the new one, whole. Throws a Refusal where another process reads the
 * old one.
 */
export function setViewsAside(dataDir: string, label: string, made: DirectoryMade): string {
  const views = viewsFile(dataDir);
  const draft = `${views}.draft`;
  leaveLog(dataDir);
  removeDraft(draft);
  try {
    makeViews(draft, made);
    sync(draft);
    const aside = linkAside(views, `${views}.${label}`);
    for (const log of LOGS) if (existsSync(`${views}${log}`)) renameSync(`${views}${log}`, `${aside}${log}`);
    renameSync(draft, views);
    sync(dataDir);
    return aside;
  } finally {
    removeDraft(draft);
  }
}

function removeDraft(draft: string): void {
  for (const left of [draft, `${draft}-journal`]) rmSync(left, { force: true });
}

/** Gives the file a second name that is free: `name`, or that with the first free number. */
function linkAside(views: string, name: string): string {
  for (let number = 1; ; number++) {
    const aside = number === 1 ? name : `${name}-${number}`;
    if (LOGS.some((log) => existsSync(`${aside}${log}`))) continue;
    try {
      linkSync(views, aside);
      return aside;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { isDamaged, isMachineError } from '../../machine-errors.ts';
import { Refusal } from '../../refusal.ts';
import { type DirectoryMade, makeViews, versionOf, viewsFile } from '../store/database.ts';
import { sync } from './backup.ts';

/** What can be told of views that are to be set aside; of a damaged file, or of another program's, perhaps nothing. */
export interface OldViews {
  /** Null where the file is no database that can be read. */
  readonly version: number | null;
  /** What the directory was made with, as far as it stands there. The dso only where an operator named it: the feed tells its own. */
  readonly made: Partial<DirectoryMade>;
}

/** What belongs to a damaged database alone, and would be taken for changes of the one that takes its name. */
const LOGS = ['-wal', '-shm'];

/** The caller holds the writer's lock. */
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

/** By the columns' names, because versions of the tables differ in them. */
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
 * After this views.db has no write-ahead log any more, unless it is damaged: what that held is in it. Only the last connection may do
 * this. Another one would delete a log of that name when it is closed, and then that is the new one's.
 */
function leaveLog(dataDir: string): void {
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
 * Puts views in which nothing was applied yet in the place of views.db, and gives the name under which the old ones stay, which
 * was nobody's. Whenever this ends or is cut short, views.db is the old one or the new one, whole. Throws a Refusal where somebody
 * reads the old ones.
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

/** A second name of the file, which is no other file's: `name`, or that with the first number that is free. */
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

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { isDamaged, isMachineError } from '../machine-errors.ts';
import { PassingRefusal, Refusal } from '../refusal.ts';
import { LOCAL_SECRET_FILE } from '../users/local-secret.ts';
import { databaseError, USERS_FILE } from '../users/users-schema.ts';
import { makeDataDirectory, openForReading, partialViewsFile, viewsFile } from './store/database.ts';
import { lockForWriting } from './store/writer-lock.ts';

/** Copies a data directory into a new one, each database as of one moment, also beside a service. It appears complete or not at all. */
export function backUp(dataDir: string, target: string, { withSecret }: { withSecret: boolean }): void {
  openForReading(dataDir).close();
  if (target === '') throw new Refusal('DIR: given "", expected the name of a new directory');
  if (!existsSync(dirname(target))) throw new Refusal(`${target}: there is no directory ${dirname(target)}`);
  const partial = `${target}.partial`;
  // A link to nothing counts too: a directory cannot be renamed over it.
  for (const taken of [target, partial])
    if (lstatSync(taken, { throwIfNoEntry: false }) !== undefined)
      throw new Refusal(`${taken} exists already: remove it, or name another directory`);
  mkdirSync(partial, { mode: 0o700 });
  try {
    copyDatabase(viewsFile(dataDir), viewsFile(partial));
    copyUsers(dataDir, partial);
    if (withSecret) copySecret(dataDir, partial);
    sync(partial);
    renameSync(partial, target);
    sync(dirname(target));
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Copies a backup into an empty data directory, with a new id and so a Kafka group of its own. After a failure it is empty again. */
export function restore(backup: string, dataDir: string): void {
  checkBackup(backup);
  makeDataDirectory(dataDir);
  if (readdirSync(dataDir).length > 0)
    throw new Refusal(`--data ${dataDir} is not empty: name a directory that is empty or does not exist`);
  try {
    using _lock = lockForWriting(dataDir);
    const partial = partialViewsFile(dataDir);
    copyDatabase(viewsFile(backup), partial);
    copyUsers(backup, dataDir);
    copySecret(backup, dataDir);
    const views = new DatabaseFile(partial);
    views.prepare('UPDATE setting SET directory_id = ?').run(randomUUID());
    views.close();
    sync(partial);
    renameSync(partial, viewsFile(dataDir));
    sync(dataDir);
  } catch (error) {
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name));
    throw error;
  }
}

/** Throws a Refusal for a directory that is no backup, is damaged, or whose views have a version that cannot be migrated. */
function checkBackup(backup: string): void {
  const views = viewsFile(backup);
  if (!existsSync(views)) throw new Refusal(`${backup} is no backup: there is no views.db in it`);
  for (const file of [views, join(backup, USERS_FILE)].filter(existsSync)) {
    const found = quickCheck(file);
    if (found !== 'ok') throw new Refusal(`${file} is damaged (${found}): use another backup`);
  }
  try {
    openForReading(backup).close();
  } catch (error) {
    // A command that writes to the directory migrates older views.
    if (!(error instanceof PassingRefusal)) throw error;
  }
}

function quickCheck(file: string): unknown {
  let db: DatabaseFile.Database | undefined;
  try {
    db = new DatabaseFile(file, { readonly: true, fileMustExist: true });
    return db.pragma('quick_check(1)', { simple: true });
  } catch (error) {
    throw new Refusal(`${file} cannot be read (${(error as Error).message}): use another backup`, { cause: error });
  } finally {
    db?.close();
  }
}

/** The copy has mode 0600. An error of the disk that it is written to has its path. */
function copyDatabase(from: string, to: string): void {
  // SQLite writes into an existing empty file, so its mode is right from the start.
  closeSync(openSync(to, 'wx', 0o600));
  const db = new DatabaseFile(from, { readonly: true, fileMustExist: true });
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } catch (error) {
    // The source is only read, so a failed write is one to the copy.
    if (!isMachineError(error, 'full', 'failingToWrite')) throw error;
    throw Object.assign(new Error((error as Error).message, { cause: error }), { path: to });
  } finally {
    db.close();
  }
  sync(to);
}

function copyUsers(from: string, to: string): void {
  const users = join(from, USERS_FILE);
  if (!existsSync(users)) return;
  try {
    copyDatabase(users, join(to, USERS_FILE));
  } catch (error) {
    throw isDamaged(error) ? databaseError(error) : error;
  }
}

function copySecret(from: string, to: string): void {
  const secret = join(from, LOCAL_SECRET_FILE);
  if (existsSync(secret))
    writeFileSync(join(to, LOCAL_SECRET_FILE), readFileSync(secret), { mode: 0o600, flush: true });
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

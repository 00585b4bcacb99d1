import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { isMachineError } from '../../machine-errors.ts';
import { openForReading } from '../store/database.ts';
import { sealFile } from './file-hash.ts';

/** A file that goes with the views into a backup, such as users.db. */
export interface BackupFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Of format 1 there is neither a seal nor a hash of each file; `restore` still reads it. */
export const BACKUP_FORMAT = 2;

/** Besides the views' own tables, a backup has these two. The seal proves the whole file, a hash tells which part is altered. */
const DDL = `
CREATE TABLE backup(lock INTEGER PRIMARY KEY CHECK (lock = 1), format INTEGER NOT NULL, made_at TEXT NOT NULL) STRICT;
CREATE TABLE backup_file(name TEXT PRIMARY KEY, bytes BLOB NOT NULL, sha256 BLOB NOT NULL) STRICT;
`;

/**
 * Writes the views as of one moment, and other files beside them, into one file: a copy of views.db with two tables more, and
 * after its pages a seal. A writer may go on meanwhile. The file appears under its name whole or not at all, and only its owner
 * may read it. A fault of the disk that it is written to has the file's name as its `path`.
 */
export function backUpViews(
  dataDir: string,
  file: string,
  { files, now }: { files: readonly BackupFile[]; now: Date },
): void {
  const partial = `${file}.${process.pid}.partial`;
  const source = openForReading(dataDir);
  try {
    // SQLite writes into an empty file that is there, so the mode is ours from the start.
    writing(file, () => closeSync(openSync(partial, 'wx', 0o600)));
    copyViews(source, { partial, file });
    writing(file, () => {
      addFiles(partial, { files, now });
      sealFile(partial);
      sync(partial);
      renameSync(partial, file);
      sync(dirname(file));
    });
  } finally {
    source.close();
    // On a full disk SQLite leaves its journal behind.
    for (const left of [partial, `${partial}-journal`]) rmSync(left, { force: true });
  }
}

function copyViews(source: Database, { partial, file }: { partial: string; file: string }): void {
  try {
    source.prepare('VACUUM INTO ?').run(partial);
  } catch (error) {
    // What SQLite cannot write while it only reads the views is of the file that it copies them to.
    throw isMachineError(error, 'full', 'failingToWrite') ? faultOf(file, error) : error;
  }
}

function addFiles(partial: string, { files, now }: { files: readonly BackupFile[]; now: Date }): void {
  const copy = new DatabaseFile(partial);
  try {
    copy.exec(DDL);
    copy.prepare('INSERT INTO backup VALUES (1, ?, ?)').run(BACKUP_FORMAT, now.toISOString());
    const insert = copy.prepare('INSERT INTO backup_file VALUES (?, ?, ?)');
    for (const { name, bytes } of files) insert.run(name, bytes, sha256Of(bytes));
  } finally {
    copy.close();
  }
}

export function sha256Of(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function writing(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw faultOf(file, error);
  }
}

/** What the operator named is where the fault is, not the draft beside it. */
function faultOf(file: string, error: unknown): Error {
  return Object.assign(new Error((error as Error).message, { cause: error }), { path: file });
}

/** A file, or the names in a folder, are on disk after this. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

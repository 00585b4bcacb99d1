import { hash } from 'node:crypto';
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

export const BACKUP_FORMAT = 2;

/**
 * Besides the views' own tables, a backup has these two. The seal covers the whole file; the hash of a file tells whoever looks
 * into an altered backup whether that part of it is whole.
 */
const DDL = `
CREATE TABLE backup(lock INTEGER PRIMARY KEY CHECK (lock = 1), format INTEGER NOT NULL, made_at TEXT NOT NULL) STRICT;
CREATE TABLE backup_file(name TEXT PRIMARY KEY, bytes BLOB NOT NULL, sha256 BLOB NOT NULL) STRICT;
`;

/**
 * Writes the views as of one moment, and other files with them, into one file: a copy of views.db with two more tables,
 * followed by a seal. A writer may continue meanwhile. The file appears under its name whole or not at all, readable only by
 * its owner. An error of the disk that it is written to has the file's name as its `path`.
 */
export function backUpViews(
  dataDir: string,
  file: string,
  { files, now }: { files: readonly BackupFile[]; now: Date },
): void {
  const partial = `${file}.${process.pid}.partial`;
  const source = openForReading(dataDir);
  try {
    // SQLite writes into an existing empty file, so its mode is right from the start.
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
    // On a full disk SQLite leaves its journal.
    for (const left of [partial, `${partial}-journal`]) rmSync(left, { force: true });
  }
}

function copyViews(source: Database, { partial, file }: { partial: string; file: string }): void {
  try {
    source.prepare('VACUUM INTO ?').run(partial);
  } catch (error) {
    // The views are only read, so a failed write is one to the copy.
    throw isMachineError(error, 'full', 'failingToWrite') ? faultOf(file, error) : error;
  }
}

function addFiles(partial: string, { files, now }: { files: readonly BackupFile[]; now: Date }): void {
  const copy = new DatabaseFile(partial);
  try {
    copy.exec(DDL);
    copy.prepare('INSERT INTO backup VALUES (1, ?, ?)').run(BACKUP_FORMAT, now.toISOString());
    const insert = copy.prepare('INSERT INTO backup_file VALUES (?, ?, ?)');
    for (const { name, bytes } of files) insert.run(name, bytes, hash('sha256', bytes, 'buffer'));
  } finally {
    copy.close();
  }
}

function writing(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw faultOf(file, error);
  }
}

/** Errors name the file that the operator gave, not the temporary one. */
function faultOf(file: string, error: unknown): Error {
  return Object.assign(new Error((error as Error).message, { cause: error }), { path: file });
}

/** Writes a file, or the names in a folder, through to the disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

import { randomUUID } from 'node:crypto';
import { closeSync, copyFileSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { Refusal } from '../refusal.ts';
import { openForReading, partialViewsFile, viewsFile } from './database.ts';

/** A file that goes with the views into a backup, such as users.db. */
export interface BackupFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const FORMAT = 1;

/** Beside the views' own tables, a backup has these two. */
const DDL = `
CREATE TABLE backup(lock INTEGER PRIMARY KEY CHECK (lock = 1), format INTEGER NOT NULL, made_at TEXT NOT NULL) STRICT;
CREATE TABLE backup_file(name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
`;

/**
 * Writes the views as of one moment, and other files beside them, into one file: a copy of views.db with two tables more. A
 * writer may go on meanwhile. The file appears under its name whole or not at all, and only its owner may read it.
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
    closeSync(openSync(partial, 'wx', 0o600));
    source.prepare('VACUUM INTO ?').run(partial);
    const copy = new DatabaseFile(partial);
    try {
      copy.exec(DDL);
      copy.prepare('INSERT INTO backup VALUES (1, ?, ?)').run(FORMAT, now.toISOString());
      const insert = copy.prepare('INSERT INTO backup_file VALUES (?, ?)');
      for (const { name, bytes } of files) insert.run(name, bytes);
    } finally {
      copy.close();
    }
    sync(partial);
    renameSync(partial, file);
    sync(dirname(file));
  } finally {
    source.close();
    rmSync(partial, { force: true });
  }
}

/**
 * Puts the views of a backup into an empty data directory, with a directory id of their own (so a Kafka group of their own) and
 * the positions they had, and the files that went with them beside; views.db comes last. Gives the names of those files, which
 * are among `names`. Throws a Refusal for what is no backup.
 */
export function restoreViews(file: string, dataDir: string, names: readonly string[]): readonly string[] {
  const views = viewsFile(dataDir);
  const partial = partialViewsFile(dataDir);
  copyFileSync(file, partial);
  const db = new DatabaseFile(partial);
  try {
    checkBackup(db, file);
    const files = db.prepare<[], BackupFile>('SELECT name, bytes FROM backup_file ORDER BY name').all();
    const unknown = files.find(({ name }) => !names.includes(name));
    if (unknown !== undefined)
      throw new Refusal(`${file} holds a file ${JSON.stringify(unknown.name)}: it is no backup`);
    for (const { name, bytes } of files)
      writeFileSync(join(dataDir, name), bytes, { mode: 0o600, flag: 'wx', flush: true });
    db.transaction(() => {
      db.exec('DROP TABLE backup; DROP TABLE backup_file;');
      db.prepare('UPDATE setting SET directory_id = ?').run(randomUUID());
    })();
    db.close();
    sync(partial);
    renameSync(partial, views);
    sync(dataDir);
    return files.map(({ name }) => name);
  } finally {
    db.close();
    rmSync(partial, { force: true });
  }
}

function checkBackup(db: Database, file: string): void {
  const format = formatOf(db);
  if (format === null) throw new Refusal(`${file} is no backup: name a file that \`holdfast backup\` wrote`);
  if (format !== FORMAT)
    throw new Refusal(
      `${file} has format ${format}, this program reads ${FORMAT}: restore it with the program that wrote it`,
    );
  const faults = db.pragma('quick_check(1)', { simple: true });
  if (faults !== 'ok') throw new Refusal(`${file} is damaged (${String(faults)}): use another backup`);
}

function formatOf(db: Database): number | null {
  try {
    return db.prepare<[], number>('SELECT format FROM backup').pluck().get() ?? null;
  } catch {
    return null;
  }
}

/** A file, or the names in a folder, are on disk behind this. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

import { randomUUID } from 'node:crypto';
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { makeDatabasePrivate } from '../../private-file.ts';
import { Refusal } from '../../refusal.ts';
import { otherVersion, partialViewsFile, versionOf, viewsFile } from '../store/database.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';
import { BACKUP_FORMAT, type BackupFile, sync } from './backup.ts';
import { unsealFile } from './file-hash.ts';

/**
 * Puts the views of a backup into an empty data directory, with a new directory id (and so a Kafka group of its own) and the
 * stored positions, and the other files with them; views.db comes last. Returns the names of those files, all of them in
 * `allowed`. Throws a Refusal for what is no backup, is cut off or altered; files written by then remain.
 */
export function restoreViews(file: string, dataDir: string, allowed: readonly string[]): readonly string[] {
  const views = viewsFile(dataDir);
  const partial = partialViewsFile(dataDir);
  copyFileSync(file, partial);
  makeDatabasePrivate(partial);
  unseal(file, partial);
  const db = new DatabaseFile(partial);
  try {
    checkViews(db, file);
    const files = readFiles(db, { file, allowed });
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

/** What has a whole seal was written by `holdfast backup`, every byte of it. */
function unseal(file: string, partial: string): void {
  const seal = unsealFile(partial);
  if (seal === 'none')
    throw new Refusal(
      `${file} is no backup, or one that was cut off or altered: it does not end with the seal that ` +
        '`holdfast backup` writes; name another file; nothing was restored',
    );
  if (seal === 'broken')
    throw new Refusal(`${file} was altered since it was written: use another backup; nothing was restored`);
}

function checkViews(db: Database, file: string): void {
  const format = db.prepare<[], number>('SELECT format FROM backup').pluck().get();
  if (format !== BACKUP_FORMAT)
    throw new Refusal(
      `${file} has format ${format}, this program reads ${BACKUP_FORMAT}: restore it with the program that wrote it`,
    );
  const version = versionOf(db);
  if (version !== SCHEMA_VERSION) throw new Refusal(`${otherVersion(file, version)}: ${elsewhere(version)}`);
  // The seal says nothing of the views that were copied: they may have been damaged before.
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok')
    throw new Refusal(`${file} was made of damaged views (${found}): use another backup; nothing was restored`);
}

function elsewhere(version: number): string {
  const restore = 'restore it with the program that wrote it';
  return version < SCHEMA_VERSION ? `${restore}, and then run \`holdfast rebuild\` with this one` : restore;
}

function readFiles(
  db: Database,
  { file, allowed }: { file: string; allowed: readonly string[] },
): readonly BackupFile[] {
  const files = db.prepare<[], BackupFile>('SELECT name, bytes FROM backup_file ORDER BY name').all();
  const other = files.find(({ name }) => !allowed.includes(name));
  if (other !== undefined) throw new Refusal(`${file} contains a file ${JSON.stringify(other.name)}: it is no backup`);
  return files;
}

import { randomUUID } from 'node:crypto';
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile, { type Database } from 'better-sqlite3';
import { isDamaged, isMachineError } from '../../machine-errors.ts';
import { Refusal } from '../../refusal.ts';
import { otherVersion, partialViewsFile, versionOf, viewsFile } from '../store/database.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';
import { BACKUP_FORMAT, type BackupFile, sha256Of, sync } from './backup.ts';
import { isCutDatabase, type Seal, unsealFile } from './file-hash.ts';

const FORMAT_WITHOUT_SEAL = 1;

/** What is wrong with the bytes of a file in a backup; null where nothing is. */
export type FaultsByName = Readonly<Record<string, (bytes: Buffer) => string | null>>;

/** `sealed`: every byte was compared with what was written. */
export interface Restored {
  readonly names: readonly string[];
  readonly sealed: boolean;
}

/**
 * Puts the views of a backup into an empty data directory, with a new directory id (and so a Kafka group of its own) and the
 * stored positions, and the other files with them; views.db comes last. Returns the names of those files, all of them keys of
 * `faults`. Throws a Refusal for what is no backup, is cut off or altered; files written by then remain.
 */
export function restoreViews(file: string, dataDir: string, faults: FaultsByName): Restored {
  const views = viewsFile(dataDir);
  const partial = partialViewsFile(dataDir);
  copyFileSync(file, partial);
  const seal = unsealFile(partial);
  if (isCutDatabase(partial)) throw damaged(file, 'its last pages are missing');
  const db = new DatabaseFile(partial);
  try {
    const files = readChecked(db, { file, seal, faults });
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
    return { names: files.map(({ name }) => name), sealed: seal === 'whole' };
  } finally {
    db.close();
    rmSync(partial, { force: true });
  }
}

interface Given {
  readonly file: string;
  readonly seal: Seal;
  readonly faults: FaultsByName;
}

function readChecked(db: Database, given: Given): readonly BackupFile[] {
  try {
    checkViews(db, given);
    return readFiles(db, given);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { message } = error as Error;
    if (isMachineError(error, 'noDatabase') && given.seal === 'none') throw noBackup(given.file);
    // Any error of SQLite comes from the altered bytes.
    throw given.seal === 'broken' || isDamaged(error) ? damaged(given.file, message) : error;
  }
}

function checkViews(db: Database, { file, seal }: Given): void {
  const isBackup = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'backup'`).get() !== undefined;
  if (!isBackup && seal === 'none') throw noBackup(file);
  if (seal === 'broken') throw altered(file, isBackup ? alteredPart(db) : 'the views in it, or its hash, are');
  const format = db.prepare<[], number>('SELECT format FROM backup').pluck().get();
  if (format !== BACKUP_FORMAT && format !== FORMAT_WITHOUT_SEAL)
    throw new Refusal(
      `${file} has format ${format}, this program reads ${FORMAT_WITHOUT_SEAL} and ${BACKUP_FORMAT}: ` +
        'restore it with the program that wrote it',
    );
  if (format === BACKUP_FORMAT && seal === 'none') throw damaged(file, 'its last line, the seal, is missing');
  const version = versionOf(db);
  if (version !== SCHEMA_VERSION) throw new Refusal(`${otherVersion(file, version)}: ${elsewhere(version)}`);
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw damaged(file, String(found));
}

function elsewhere(version: number): string {
  const restore = 'restore it with the program that wrote it';
  return version < SCHEMA_VERSION ? `${restore}, and then run \`holdfast rebuild\` with this one` : restore;
}

/** The views have no hash of their own: if no other file is altered, they are. */
function alteredPart(db: Database): string {
  const files = db.prepare<[], BackupFile & { sha256: Buffer }>('SELECT name, bytes, sha256 FROM backup_file').all();
  const names = files.filter(({ bytes, sha256 }) => !sha256Of(bytes).equals(sha256)).map(({ name }) => name);
  return names.length === 0 ? 'the views in it, or its hash, are' : `${names.join(' and ')} in it is`;
}

function readFiles(db: Database, { file, faults }: Given): readonly BackupFile[] {
  const files = db.prepare<[], BackupFile>('SELECT name, bytes FROM backup_file ORDER BY name').all();
  for (const { name, bytes } of files) {
    const faultOf = Object.hasOwn(faults, name) ? faults[name] : undefined;
    if (faultOf === undefined) throw new Refusal(`${file} contains a file ${JSON.stringify(name)}: it is no backup`);
    const fault = faultOf(bytes);
    if (fault !== null) throw damaged(file, `${name} in it: ${fault}`);
  }
  return files;
}

function noBackup(file: string): Refusal {
  return new Refusal(`${file} is no backup: name a file that \`holdfast backup\` wrote`);
}

function damaged(file: string, found: string): Refusal {
  return new Refusal(
    `${file} is cut off or damaged, so no complete backup (${found}): use another one; nothing was restored`,
  );
}

function altered(file: string, what: string): Refusal {
  return new Refusal(`${file}: ${what} altered since it was written: use another backup; nothing was restored`);
}

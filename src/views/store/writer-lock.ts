import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { isDiskError, isMachineError } from '../../machine-errors.ts';
import { makeDatabasePrivate } from '../../private-file.ts';
import { Refusal } from '../../refusal.ts';

/** The writer's lock: an exclusive SQLite transaction on lock.db, which ends with the process. The pid beside it is only shown. */
export function lockForWriting(dataDir: string): Disposable {
  const [file, pidFile] = [join(dataDir, 'lock.db'), join(dataDir, 'lock.pid')];
  let db: DatabaseFile.Database | null = null;
  try {
    makeDatabasePrivate(file);
    const opened = new DatabaseFile(file, { timeout: 0 });
    db = opened;
    // The lock must also work on a full disk.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
    showPid(pidFile);
    return { [Symbol.dispose]: () => void opened.close() };
  } catch (error) {
    db?.close();
    // A full or failing disk is no mistake of the caller.
    if (db !== null && isDiskError(error)) throw error;
    const reason = isMachineError(error, 'locked')
      ? `process ${shownPid(pidFile)} writes to it; stop that one first`
      : `cannot be written to (${(error as Error).message})`;
    throw new Refusal(`--data ${dataDir}: ${reason}`, { cause: error });
  }
}

/** On a full disk no pid is written. A read-only file would be locked for reading only: this write then fails. */
function showPid(pidFile: string): void {
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

function shownPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return '(unknown)';
  }
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { Refusal } from '../refusal.ts';

/**
 * The writer's lock: an exclusive SQLite transaction on lock.db, which the kernel releases with the process. The pid beside
 * it is only shown, never trusted.
 */
export function lockForWriting(dataDir: string): Disposable {
  const pidFile = join(dataDir, 'lock.pid');
  let db: DatabaseFile.Database;
  try {
    db = new DatabaseFile(join(dataDir, 'lock.db'), { timeout: 0 });
  } catch (error) {
    throw new Refusal(`--data ${dataDir}: cannot be written to (${(error as Error).message})`, { cause: error });
  }
  try {
    // The lock must not need room on a full disk.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    const code = (error as { code?: string }).code ?? '';
    if (/^SQLITE_(FULL|IOERR)/.test(code)) throw error;
    if (!code.startsWith('SQLITE_BUSY')) {
      throw new Refusal(`--data ${dataDir}: cannot be locked for writing (${(error as Error).message})`, {
        cause: error,
      });
    }
    throw new Refusal(`--data ${dataDir}: process ${shownPid(pidFile)} writes to it; stop that one first`, {
      cause: error,
    });
  }
  showPid(pidFile);
  return { [Symbol.dispose]: () => void db.close() };
}

/** A full disk may keep the pid from being shown, and no more than that. */
function showPid(pidFile: string): void {
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    if (!/^(ENOSPC|EDQUOT|EIO|EFBIG)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function shownPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return '(unknown)';
  }
}

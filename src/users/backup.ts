import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { isDamaged, isMachineError } from '../machine-errors.ts';
import { damagedUsers, databaseError } from './database-error.ts';
import { LOCAL_SECRET_FILE } from './tokens/local-secret.ts';

export const USERS_FILE = 'users.db';

/** Where the header of a database file says how it is written and read, and what it says without a write-ahead log. */
const JOURNAL_VERSIONS = [18, 20] as const;
const ROLLBACK_JOURNAL = 1;
const HEADER_BYTES = 100;

/** users.db as of one moment, also beside a running service; null where there is none yet. */
export function readUsersFile(dataDir: string): Buffer | null {
  const file = join(dataDir, USERS_FILE);
  if (!existsSync(file)) return null;
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true });
  try {
    // What keeps the file from being read is said here, and a damaged one is no backup: `serialize` would only copy its pages.
    const fault = integrityFault(db);
    if (fault !== null) throw damagedUsers(`database disk image is malformed: ${fault}`);
    return db.serialize();
  } catch (error) {
    throw databaseError(error);
  } finally {
    db.close();
  }
}

/** What keeps the bytes of a users.db from being one; null where nothing does. The same look as before a backup. */
export function usersFileFault(bytes: Buffer): string | null {
  if (bytes.length < HEADER_BYTES) return 'it is no database';
  const copy = Buffer.from(bytes);
  // Where the header says that a write-ahead log belongs to it, SQLite opens no database in memory.
  copy.fill(ROLLBACK_JOURNAL, ...JOURNAL_VERSIONS);
  const db = new BetterSqlite3(copy);
  try {
    if (db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return 'it has no tables';
    return integrityFault(db);
  } catch (error) {
    if (!isDamaged(error) && !isMachineError(error, 'unwritable')) throw error;
    return (error as Error).message;
  } finally {
    db.close();
  }
}

function integrityFault(db: Database): string | null {
  const found = db.pragma('integrity_check(1)', { simple: true });
  return found === 'ok' ? null : String(found);
}

/** The directory's own token secret; null where none was made. */
export function readSecretFile(dataDir: string): Buffer | null {
  const file = join(dataDir, LOCAL_SECRET_FILE);
  return existsSync(file) ? readFileSync(file) : null;
}

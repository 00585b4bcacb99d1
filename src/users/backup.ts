import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { isDamaged, isMachineError } from '../machine-errors.ts';
import { damagedUsers, databaseError } from './database-error.ts';
import { LOCAL_SECRET_FILE } from './tokens/local-secret.ts';

export const USERS_FILE = 'users.db';

/** Where a database file's header has its read and write versions, and their value without a write-ahead log. */
const JOURNAL_VERSIONS = [18, 20] as const;
const ROLLBACK_JOURNAL = 1;
const HEADER_BYTES = 100;

/** users.db as of one moment, also while a service runs; null where there is none yet. */
export function readUsersFile(dataDir: string): Buffer | null {
  const file = join(dataDir, USERS_FILE);
  if (!existsSync(file)) return null;
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true });
  try {
    // Finds out here if the file cannot be read or is damaged: `serialize` would only copy its pages.
    const fault = integrityFault(db);
    if (fault !== null) throw damagedUsers(`database disk image is malformed: ${fault}`);
    return db.serialize();
  } catch (error) {
    throw databaseError(error);
  } finally {
    db.close();
  }
}

/** Why these bytes are no users.db; null where they are. The same check as before a backup. */
export function usersFileFault(bytes: Buffer): string | null {
  if (bytes.length < HEADER_BYTES) return 'it is no database';
  const copy = Buffer.from(bytes);
  // SQLite opens no database in memory whose header says that it has a write-ahead log.
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

/** The directory's own token secret; null where there is none. */
export function readSecretFile(dataDir: string): Buffer | null {
  const file = join(dataDir, LOCAL_SECRET_FILE);
  return existsSync(file) ? readFileSync(file) : null;
}

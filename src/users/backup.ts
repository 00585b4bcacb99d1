import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { damagedUsers, databaseError } from './database-error.ts';
import { LOCAL_SECRET_FILE } from './local-secret.ts';

export const USERS_FILE = 'users.db';

/** users.db as of one moment, also while a service runs; null where there is none yet. */
export function readUsersFile(dataDir: string): Buffer | null {
  const file = join(dataDir, USERS_FILE);
  if (!existsSync(file)) return null;
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true });
  try {
    // Finds out here if the file cannot be read or is damaged: `serialize` would only copy its pages.
    const found = db.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw damagedUsers(`database disk image is malformed: ${found}`);
    return db.serialize();
  } catch (error) {
    throw databaseError(error);
  } finally {
    db.close();
  }
}

/** The directory's own token secret; null where there is none. */
export function readSecretFile(dataDir: string): Buffer | null {
  const file = join(dataDir, LOCAL_SECRET_FILE);
  return existsSync(file) ? readFileSync(file) : null;
}

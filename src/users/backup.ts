import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { LOCAL_SECRET_FILE } from './tokens/local-secret.ts';

export const USERS_FILE = 'users.db';

/** users.db as of one moment, also beside a running service; null where there is none yet. */
export function readUsersFile(dataDir: string): Buffer | null {
  const file = join(dataDir, USERS_FILE);
  if (!existsSync(file)) return null;
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true });
  try {
    // What keeps the file from being read is said here, and a damaged one is no backup: `serialize` would only copy its pages.
    const faults = db.pragma('quick_check(1)', { simple: true });
    if (faults !== 'ok') throw new Error(`${USERS_FILE}: database disk image is malformed: ${String(faults)}`);
    return db.serialize();
  } finally {
    db.close();
  }
}

/** The directory's own token secret; null where none was made. */
export function readSecretFile(dataDir: string): Buffer | null {
  const file = join(dataDir, LOCAL_SECRET_FILE);
  return existsSync(file) ? readFileSync(file) : null;
}

import BetterSqlite3 from 'better-sqlite3';
import { isDamaged, USERS_DAMAGED } from '../machine-errors.ts';

export const USERS_FILE = 'users.db';

/** Names users.db in an error of SQLite, because there are two databases; any other error is returned as it is. */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const named = new Error(`${USERS_FILE}: ${error.message}`, { cause: error });
  return isDamaged(error) ? Object.assign(named, { code: USERS_DAMAGED }) : named;
}

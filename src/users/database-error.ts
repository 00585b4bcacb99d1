import BetterSqlite3 from 'better-sqlite3';
import { isDamaged, USERS_DAMAGED } from '../machine-errors.ts';

/** Names users.db in an error of SQLite, because there are two databases; any other error is returned as it is. */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  if (isDamaged(error)) return damagedUsers(error.message, error);
  return new Error(`users.db: ${error.message}`, { cause: error });
}

export function damagedUsers(found: string, cause?: Error): Error {
  return Object.assign(new Error(`users.db: ${found}`, { cause }), { code: USERS_DAMAGED });
}

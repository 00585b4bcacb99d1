import { hash } from 'node:crypto';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { isDamaged, USERS_DAMAGED } from '../machine-errors.ts';
import { Refusal } from '../refusal.ts';

export const USERS_FILE = 'users.db';

/** Names users.db in an error of SQLite, because there are two databases; any other error is returned as it is. */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const named = new Error(`${USERS_FILE}: ${error.message}`, { cause: error });
  return isDamaged(error) ? Object.assign(named, { code: USERS_DAMAGED }) : named;
}

/** The first schema of users.db. Ids compare by byte value (BINARY), which is the order of pages. */
const FIRST_TABLES = `
-- The participant's own name: made once, and the only row there can be.
CREATE TABLE participant (
  lock INTEGER PRIMARY KEY CHECK (lock = 1),
  id TEXT NOT NULL
) STRICT;

CREATE TABLE identity_provider (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  is_deactivated INTEGER NOT NULL CHECK (is_deactivated IN (0, 1)),
  issuer TEXT NOT NULL UNIQUE,
  jwks_url TEXT NOT NULL,
  audience TEXT NOT NULL
) STRICT;

-- identity_provider_id is NULL for the default provider, so that the reference can be enforced for all others: a
-- provider that users still refer to cannot go.
CREATE TABLE user (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  identity_provider_id TEXT REFERENCES identity_provider (id),
  primary_party TEXT NOT NULL,
  is_deactivated INTEGER NOT NULL CHECK (is_deactivated IN (0, 1)),
  primary_party_authentication INTEGER NOT NULL CHECK (primary_party_authentication IN (0, 1)),
  resource_version INTEGER NOT NULL CHECK (resource_version >= 0)
) STRICT;
CREATE INDEX user_of_provider ON user (identity_provider_id, id);

CREATE TABLE user_annotation (
  user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL CHECK (value <> ''),
  PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;

-- party is empty for the kinds that name none.
CREATE TABLE user_right (
  user_id TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  party TEXT NOT NULL,
  PRIMARY KEY (user_id, kind, party)
) STRICT, WITHOUT ROWID;

-- The administrator that every ledger starts with. It may be deleted, and then does not come back.
INSERT INTO user VALUES ('participant_admin', NULL, '', 0, 0, 0);
INSERT INTO user_right VALUES ('participant_admin', 'ParticipantAdmin', '');
`;

/** One step of the schema. Its statements never change once released: a change is a new step at the end. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

const MIGRATIONS: readonly Migration[] = [{ name: 'first tables', sql: FIRST_TABLES }];

const MIGRATIONS_TABLE = `
CREATE TABLE IF NOT EXISTS migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT`;

interface AppliedRow {
  readonly version: number;
  readonly checksum: string;
}

/**
 * Brings users.db to this program's schema, all steps in one transaction. Throws a Refusal, with nothing changed, where
 * a newer program wrote the file or an applied step is not the one this program knows.
 */
export function migrate(
  db: Database,
  { file, migrations = MIGRATIONS }: { file: string; migrations?: readonly Migration[] },
): void {
  db.transaction(() => {
    db.exec(MIGRATIONS_TABLE);
    const applied = db.prepare<[], AppliedRow>('SELECT version, checksum FROM migration ORDER BY version').all();
    if (applied.length > migrations.length)
      throw new Refusal(
        `${file} has version ${applied.length}, written by a newer holdfast; ` +
          `this one knows ${migrations.length}: use the newer program`,
      );
    const insert = db.prepare('INSERT INTO migration (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)');
    migrations.forEach((migration, index) => {
      const version = index + 1;
      const checksum = hash('sha256', migration.sql);
      const row = applied[index];
      if (row === undefined) {
        db.exec(migration.sql);
        insert.run(version, migration.name, checksum, new Date().toISOString());
      } else if (row.version !== version || row.checksum !== checksum) {
        throw new Refusal(
          `${file}: migration ${row.version} was applied in another form than this program has: ` +
            'use the program that wrote the file',
        );
      }
    });
  }).immediate();
}

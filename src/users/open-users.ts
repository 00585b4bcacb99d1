import { hash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import BetterSqlite3 from 'better-sqlite3';
import type { Logger } from 'pino';
import { makeDatabasePrivate } from '../private-file.ts';
import { localService } from './local-secret.ts';
import { EMPTY_USER } from './user-requests.ts';
import type { AuthService, UsersConfig } from './users-config.ts';
import { unavailable } from './users-error.ts';
import { databaseError, migrate, USERS_FILE } from './users-schema.ts';
import { RememberingReader, type UsersReader, UsersWriter } from './users-store.ts';

/** How long the start waits for another program's lock. */
const BUSY_TIMEOUT_MS = 5_000;
/** Waiting would block the thread that answers all requests, so a request is answered that it may try again. */
const BUSY_TIMEOUT_MS_OF_REQUESTS = 50;

interface UsersOptions {
  readonly dataDir: string;
  readonly config: UsersConfig;
  /** Null: the one created with users.db and stored there. */
  readonly participantId: string | null;
  readonly logger: Logger;
}

/** The ledger's users: the process's open users.db, and its settings. */
export type Users = ReturnType<typeof wrap>;

/**
 * Opens users.db in the data directory, which is created where it is missing, as is the local secret where no service is
 * configured. The caller has the directory's writer lock. Throws a Refusal for a file of a newer program.
 */
export function openUsers({ dataDir, config, participantId, logger }: UsersOptions): Users {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, USERS_FILE);
  makeDatabasePrivate(file);
  const db = new BetterSqlite3(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma('trusted_schema = OFF');
    migrate(db, { file });
    const storedId = storedParticipantId(db);
    const authServices = config.authServices.length > 0 ? config.authServices : [localService(dataDir)];
    const users = wrap(db, { config, participantId: participantId ?? storedId, authServices });
    addAdditionalAdmin(users, logger);
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS_OF_REQUESTS}`);
    return users;
  } catch (error) {
    db.close();
    throw databaseError(error);
  }
}

/** Made with the first opening: a name and a fingerprint in the reference's form (0x12, 0x20, SHA-256). */
function storedParticipantId(db: Database): string {
  const fingerprint = `1220${hash('sha256', randomBytes(32))}`;
  db.prepare('INSERT OR IGNORE INTO participant VALUES (1, ?)').run(`participant1::${fingerprint}`);
  return db.prepare<[], string>('SELECT id FROM participant').pluck().get()!;
}

interface Settings {
  readonly config: UsersConfig;
  readonly participantId: string;
  /** The services of the configuration, or the data directory's own secret where there are none. */
  readonly authServices: readonly AuthService[];
}

function wrap(db: Database, settings: Settings) {
  const reader = new RememberingReader(db);
  const writer = new UsersWriter(db);
  const closing = new AbortController();
  return {
    ...settings,
    reader: reader as UsersReader,
    /** Aborts when the users are closed: pending work, such as a fetch of keys, need not be finished. */
    closed: closing.signal,
    /** Runs `body` in one transaction, which is on disk when this returns; an error rolls it back. */
    write<T>(body: (users: UsersWriter) => T): T {
      const { userCount } = writer;
      try {
        const result = db.transaction(() => body(writer)).immediate();
        reader.forget();
        return result;
      } catch (error) {
        writer.userCount = userCount;
        throw unavailable(error);
      }
    },
    [Symbol.dispose](): void {
      closing.abort(new Error('the service is stopping'));
      db.close();
    },
  };
}

/** An existing user of that id is left as it is (docs/rules.md, users). */
function addAdditionalAdmin(users: Users, logger: Logger): void {
  const id = users.config.additionalAdminUserId;
  if (id === null || users.reader.user(id) !== null) return;
  users.write((writer) => {
    writer.insertUser({ ...EMPTY_USER, id, resourceVersion: 0n });
    writer.grantRight(id, { kind: 'ParticipantAdmin', party: '' });
  });
  logger.info({ userId: id }, 'additional administrator created');
}

import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsersError, unavailable } from '../../../src/users/users-error.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { ask } from '../../support/users/cases.ts';
import { onTransaction } from '../../support/users/on-transaction.ts';
import { startWorld, type World } from '../../support/users/world.ts';

/** While a request waits for the database, all others wait for it. */
const WAIT_MAX_MS = 100;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const create = (id: string) => ask(world, 'admin', 'POST /v2/users', JSON.stringify({ user: { id } }));

describe('users.db in the hands of another program', () => {
  it('is a 503 that may be tried again, and delays no other request', async () => {
    const other = new DatabaseFile(join(world.area.dataDir, 'users.db'));
    other.exec('BEGIN IMMEDIATE');
    let waitsMs: unknown;
    using _heard = onTransaction((db) => {
      waitsMs = db.pragma('busy_timeout', { simple: true });
    });
    const [refused, read] = await Promise.all([create('held'), ask(world, 'admin', 'GET /v2/authenticated-user')]);
    expect(waitsMs).toBeLessThanOrEqual(WAIT_MAX_MS);
    expect(read.status).toBe(200);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'INDEX_DB_SQL_TRANSIENT_ERROR',
      cause: 'nothing was changed: users.db cannot be written now (database is locked)',
      grpcCodeValue: 14,
      retryInfo: '1 second',
    });
    other.exec('ROLLBACK');
    other.close();
    expect((await create('held')).status).toBe(200);
  });
});

describe('a fault of the machine', () => {
  it('may pass where the disk is full; no other error is called so', () => {
    using folder = temporaryDirectory();
    const db = new DatabaseFile(folder.at('full.db'));
    db.exec('CREATE TABLE t(x)');
    db.pragma('max_page_count = 2');
    const errorOf = (sql: string): unknown => {
      try {
        return db.exec(sql);
      } catch (error) {
        return error;
      }
    };
    const full = unavailable(errorOf('INSERT INTO t VALUES (zeroblob(100000))')) as UsersError;
    expect(full).toBeInstanceOf(UsersError);
    expect([full.code, full.message]).toEqual([
      'INDEX_DB_SQL_TRANSIENT_ERROR',
      expect.stringContaining('(database or disk is full)'),
    ]);
    const other = errorOf('INSERT INTO nothing VALUES (1)');
    expect(unavailable(other)).toBe(other);
    db.close();
  });
});

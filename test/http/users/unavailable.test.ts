import { join } from 'node:path';
import DatabaseFile from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

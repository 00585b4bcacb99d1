import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgresStore, type PostgresStore, type StoreOptions } from '../../src/scale/postgres-store.ts';
import { openPool, type StatementPool } from '../../src/scale/statement-pool.ts';
import { writeStory } from '../support/scale/fresh-store.ts';
import { type PostgresServer, startPostgres } from '../support/scale/postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  await writeStory(server);
  await using admin = await server.connect();
  await admin.query('SELECT seal(100)');
});
afterAll(() => server[Symbol.asyncDispose]());

function open(options: StoreOptions = {}): PostgresStore {
  return openPostgresStore({ ...server.settings(), password: 'a secret of the owner' }, options);
}

function openOwnPool(waitMsMax = 10_000): StatementPool {
  const unavailable = ({ message }: Error): string => message;
  return openPool(server.settings(), { connections: 1, statementMsMax: 10_000, waitMsMax, unavailable });
}

it('a statement that takes too long is ended, of a client and of the process itself', async () => {
  await using store = open({ readMsMax: 300, ownMsMax: 200 });
  await using holder = await server.connect();
  await holder.query('BEGIN; LOCK TABLE setting');
  const ended = (limit: string): object => ({ code: 'read_too_long', message: expect.stringContaining(limit) });
  await expect(store.for().facts({ kind: 'snapshots' })).rejects.toMatchObject(ended('0.3 s'));
  await expect(store.standing()).rejects.toMatchObject(ended('0.2 s'));
});

it('what finds no connection waits, not for long and not with too many; the process itself has its own', async () => {
  await using store = open({ connections: 1, waitMsMax: 2_000 });
  const [a, b] = [store.for(), store.for(AbortSignal.abort())];
  await a.facts({ kind: 'snapshots' });
  await using holder = await server.connect();
  await holder.query('BEGIN; LOCK TABLE snapshot');
  const slow = a.facts({ kind: 'snapshots' });
  await expect.poll(() => store.load()).toEqual({ busy: 1, waiting: 0 });
  const many = Array.from({ length: 257 }, () => a.facts({ kind: 'last migration' }).catch(({ message }) => message));
  expect(await Promise.race(many)).toMatch(/^too many reads are waiting/);
  expect(await store.standing()).toMatchObject({ faults: 0 });
  expect(new Set(await Promise.all(many.slice(0, 256)))).toEqual(
    new Set(['other reads took too long for this one to begin; try again later']),
  );
  const waiting = a.facts({ kind: 'last migration' });
  const left = b.facts({ kind: 'last migration' });
  await holder.query('ROLLBACK');
  await expect(left).rejects.toMatchObject({ code: 'not_begun', message: 'the client has gone' });
  expect([(await slow).length, await waiting]).toEqual([expect.any(Number), 0]);
  expect(store.load()).toEqual({ busy: 0, waiting: 0 });
});

it('a connection that the server ends with its statement is not used again', async () => {
  await using pool = openOwnPool();
  const ask = pool.asker();
  for (let i = 0; i < 4; i++) {
    const ending = ask('SELECT pg_terminate_backend(pg_backend_pid())');
    await expect(ending).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await ask('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  }
});

it('a fault of this program is none of the store', async () => {
  await using pool = openOwnPool();
  await expect(pool.asker()("SELECT 'NaN'::numeric")).rejects.toThrow(SyntaxError);
  const circle: unknown[] = [];
  circle.push({ circle });
  await expect(pool.asker()('SELECT $1::json', [{ circle }])).rejects.toThrow(TypeError);
});

it('why the store was not available for a client alone is in the log, once a minute and without a secret', async () => {
  const said: string[] = [];
  await using store = open({ logger: pino({}, { write: (line: string) => void said.push(line) }) });
  await using holder = await server.connect();
  await using admin = await server.connect();
  await holder.query('BEGIN; LOCK TABLE snapshot');
  const end =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%snapshot%'";
  for (let i = 0; i < 2; i++) {
    await Promise.all([
      expect(store.for().facts({ kind: 'snapshots' })).rejects.toMatchObject({ code: 'store_unavailable' }),
      expect.poll(async () => (await admin.query(end)).rows.length).toBe(1),
    ]);
  }
  expect(said.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, err: { code: '57P01' } }]);
  expect(said.join('')).not.toContain('a secret of the owner');
});

it('the largest owners are sorted once for a snapshot, and found again by the numbers of their rows', async () => {
  await using store = open();
  const { migrationId, recordTime } = (await store.facts({ kind: 'newest snapshots' })).at(-1)!;
  const place = { migrationId, recordTime };
  const { total } = await store.facts({ kind: 'ranking', ...place });
  expect(total.length).toBeGreaterThan(2);
  expect((await store.for().facts({ kind: 'ranking', ...place })).total).toBe(total);
  const owners = await store.facts({ kind: 'numbered owners', ...place, owners: [...total] });
  const amounts = owners.map(({ unlocked, locked }) => unlocked + locked);
  expect(amounts).toEqual(amounts.toSorted((a, b) => (a > b ? -1 : 1)));
  expect(amounts).toHaveLength(total.length);
});

it('another store at the same place is noticed by questions alone', async () => {
  await using store = open();
  await using admin = await server.connect();
  const dso = async (): Promise<string | null | undefined> =>
    (await store.facts({ kind: 'migration', migrationId: null }))?.dso;
  expect(await dso()).toMatch(/^DSO::/);
  await admin.query("UPDATE setting SET store = gen_random_uuid(), dso = 'other::12'");
  await expect.poll(dso).toBe('other::12');
  await admin.query('ALTER TABLE snapshot RENAME TO gone');
  await expect(store.for().facts({ kind: 'snapshots' })).rejects.toMatchObject({ code: 'store_unavailable' });
});

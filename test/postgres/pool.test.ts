import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, openPool, type StatementPool } from '../../src/postgres/pool.ts';
import { createRankings } from '../../src/postgres/rankings.ts';
import type { PostgresSettings } from '../../src/postgres/settings.ts';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import { writeStory } from '../support/postgres/story.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  await writeStory(server);
});
afterAll(() => server[Symbol.asyncDispose]());

function where(): PostgresSettings {
  const who = { user: 'owner', password: 'a secret of the owner', ssl: null };
  return { host: '127.0.0.1', port: server.port, database: 'postgres', ...who };
}

function open(options: Parameters<typeof openPostgresStore>[1]): PostgresStore {
  return openPostgresStore(where(), options);
}

function openOwnPool(): StatementPool {
  return openPool(where(), { places: 2, isReadOnly: true, statementMsMax: 10_000, ownMsMax: 10_000 });
}

it('a statement that takes too long is ended, and says so', async () => {
  await using store = open({ readMsMax: 3_000 });
  await using holder = await server.connect();
  await holder.query('BEGIN; LOCK TABLE snapshot');
  const asked = store.for({ client: 'a' }).facts({ kind: 'snapshots' });
  await expect(asked).rejects.toMatchObject({ code: 'read_too_long', message: expect.stringContaining('3 s') });
});

it('what the process asks for itself gives up soon where the server does not answer', async () => {
  await using store = open({ ownMsMax: 100 });
  await using holder = await server.connect();
  await holder.query('BEGIN; LOCK TABLE setting');
  await expect(store.standing()).rejects.toMatchObject({ code: 'store_unavailable' });
  await using admin = await server.connect();
  const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  await expect.poll(async () => (await admin.query(waiting)).rows).toEqual([]);
});

it('slow questions of one client leave room for another, and for the process itself; what waits can go', async () => {
  await using store = open({ places: 2 });
  const a = store.for({ client: 'a' });
  await a.facts({ kind: 'snapshots' });
  await using holder = await server.connect();
  await holder.query('BEGIN; LOCK TABLE snapshot');
  const slow = a.facts({ kind: 'snapshots' });
  await expect.poll(() => store.load().busy).toBe(1);
  const leaving = new AbortController();
  const waiting = store.for({ client: 'a', signal: leaving.signal }).facts({ kind: 'last migration' });
  await expect.poll(() => store.load()).toEqual({ busy: 1, waiting: 1 });
  expect(await store.for({ client: 'b' }).facts({ kind: 'last migration' })).toBe(0);
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'not_begun' });

  const others = store.for({ client: 'b' }).facts({ kind: 'snapshots' });
  await expect.poll(() => store.load()).toEqual({ busy: 2, waiting: 0 });
  const many = Array.from({ length: 128 }, () => store.for({ client: 'c' }).facts({ kind: 'last migration' }));
  await expect.poll(() => store.load().waiting).toBe(128);
  await expect(store.for({ client: 'c' }).facts({ kind: 'last migration' })).rejects.toMatchObject({
    code: 'not_begun',
  });
  expect(await store.standing()).toMatchObject({ faults: 0 });
  await holder.query('ROLLBACK');
  expect(await Promise.all(many)).toEqual(many.map(() => 0));
  expect([await slow, await others]).toEqual([[], []]);
  await expect.poll(() => store.load()).toEqual({ busy: 0, waiting: 0 });
});

it('a cancel that comes after its statement has ended reaches no other', async () => {
  await using store = open({ places: 2 });
  await using holder = await server.connect();
  for (let i = 0; i < 16; i++) {
    await holder.query('BEGIN; LOCK TABLE snapshot_control');
    const leaving = new AbortController();
    const left = store.for({ client: 'a', signal: leaving.signal }).facts({ kind: 'snapshots' });
    setTimeout(() => leaving.abort(), i % 4);
    await left.catch(({ code }: { code: string }) => expect(code).toBe('not_begun'));
    const next = store.for({ client: 'a' }).facts({ kind: 'last migration' });
    // Cancels take some milliseconds.
    await sleep(20);
    await holder.query('ROLLBACK');
    expect(await next).toBe(0);
  }
});

it('a client that goes while it waits for a connection leaves it to others', async () => {
  await using pool = openOwnPool();
  await using admin = await server.connect();
  const { rows } = await admin.query<{ time: string }>('SELECT clock_timestamp()::text AS time');
  const leaving = new AbortController();
  const left = pool.asker({ client: 'a', signal: leaving.signal })('SELECT 1');
  setImmediate(() => leaving.abort());
  await expect(left).rejects.toMatchObject({ code: 'not_begun' });
  const since = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND backend_start > $1";
  const begun = async (): Promise<unknown[]> => (await admin.query(since, [rows[0]!.time])).rows;
  // The server may still be at work on the connection that was asked for.
  await expect.poll(async () => (await begun()).length).toBe(1);
  expect(await pool.asker({ client: 'a' })('SELECT pg_backend_pid() AS pid')).toEqual(await begun());
});

it('a connection that the server ends with its statement is not used again', async () => {
  await using pool = openOwnPool();
  const ask = pool.asker({ client: 'a' });
  for (let i = 0; i < 4; i++) {
    await expect(ask('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(await ask('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  }
});

it('a fault of this program is none of the store', async () => {
  await using pool = openOwnPool();
  for (const ask of [pool.asker({ client: 'a' }), pool.own()]) {
    await expect(ask("SELECT 'NaN'::numeric")).rejects.toThrow(SyntaxError);
    const circle: unknown[] = [];
    circle.push({ circle });
    await expect(ask('SELECT $1::json', [{ circle }])).rejects.toThrow(TypeError);
  }
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
      expect(store.for({ client: 'a' }).facts({ kind: 'snapshots' })).rejects.toMatchObject({
        code: 'store_unavailable',
      }),
      expect.poll(async () => (await admin.query(end)).rows.length).toBe(1),
    ]);
    expect(await store.standing()).toMatchObject({ faults: 0 });
  }
  expect(said.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, statements: 1, err: { code: '57P01' } }]);
  expect(said.join('')).not.toContain('a secret of the owner');
});

describe('the largest owners', () => {
  beforeAll(async () => {
    await using admin = await server.connect();
    await admin.query('SELECT seal(100)');
  });

  it('are found at their places, also where the table was written anew', async () => {
    await using store = open({});
    await using admin = await server.connect();
    const { migrationId, recordTime } = (await store.facts({ kind: 'newest snapshots' })).at(-1)!;
    const place = { migrationId, recordTime };
    const { total } = await store.facts({ kind: 'ranking', ...place });
    expect(total.length).toBeGreaterThan(2);
    const all = { kind: 'numbered owners', ...place, owners: [...total] } as const;
    const owners = await store.facts(all);
    const amounts = owners.map(({ unlocked, locked }) => unlocked + locked);
    expect(amounts).toEqual(amounts.toSorted((a, b) => (a > b ? -1 : 1)));
    await expect(store.facts({ ...all, owners: [total.length] })).rejects.toThrow(/no owner/);
    const rows = 'SELECT ctid, owner, seq FROM owner_total ORDER BY ctid';
    const before = await admin.query(rows);
    for (const index of ['owner_total_seq', 'owner_total_pkey']) {
      await admin.query(`CLUSTER owner_total USING ${index}`);
      expect(await store.facts(all)).toEqual(owners);
    }
    expect((await admin.query(rows)).rows).not.toEqual(before.rows);
  });

  it('cost a pass over all owners once, and a page of them its own rows', async () => {
    await using admin = await server.connect();
    await admin.query(
      "INSERT INTO owner_total SELECT 5, i || '::12', 1, 1, 1, 1, 1, 0, 0, 0, 0, 1 FROM generate_series(1, 5000) i",
    );
    const plans: string[] = [];
    const ask: Ask = async <Row>(sql: string, values: readonly unknown[] = []) => {
      const { rows } = await admin.query<Record<string, string>>(`EXPLAIN ${sql}`, [...values]);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return (await admin.query(sql, [...values])).rows as Row[];
    };
    const asks = { ask, pass: ask };
    const rankings = createRankings();
    const { rows } = await admin.query<{ seq: string }>('SELECT max(seq) AS seq FROM snapshot');
    const place = { migrationId: 0, recordTime: 0, seq: Number(rows[0]!.seq) };
    for (const numbers of [[0, 1], [2]]) {
      await rankings.ranking(asks, place);
      await rankings.numbered(asks, place, numbers);
    }
    const scan = /^Tid Scan on owner_total/;
    expect(plans).toEqual([expect.not.stringMatching(scan), expect.stringMatching(scan), expect.stringMatching(scan)]);
  });

  it('of several snapshots are sorted one at a time for a client, and another has its turn', async () => {
    await using store = open({});
    await using admin = await server.connect();
    await using holder = await server.connect();
    const snapshots = await store.facts({ kind: 'snapshots' });
    const rank = (client: string, at: number): Promise<object> => {
      const { migrationId, recordTime } = snapshots[at]!;
      return store.for({ client }).facts({ kind: 'ranking', migrationId, recordTime });
    };
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%owner_total%'";
    const passes = async (): Promise<number> => (await admin.query(waiting)).rows.length;
    await holder.query('BEGIN; LOCK TABLE owner_total');
    const many = [0, 1, 2].map((at) => rank('a', at));
    await expect.poll(passes).toBe(1);
    const other = rank('b', 3);
    await expect.poll(passes).toBe(2);
    // What a client asks for meanwhile is answered, and begins no more of them.
    expect(await store.for({ client: 'a' }).facts({ kind: 'snapshots' })).toEqual(snapshots);
    expect(await passes()).toBe(2);
    await holder.query('ROLLBACK');
    expect(await Promise.all([...many, other])).toHaveLength(4);
  });
});

it('another store at the same place is noticed by questions alone', async () => {
  await using store = open({});
  await using admin = await server.connect();
  await admin.query('SELECT seal(100)');
  const dso = async (): Promise<string | null | undefined> =>
    (await store.facts({ kind: 'migration', migrationId: null }))?.dso;
  expect(await dso()).toMatch(/^DSO::/);
  await admin.query("UPDATE setting SET store = gen_random_uuid(), dso = 'other::12'");
  await expect.poll(dso).toBe('other::12');
  await admin.query('ALTER TABLE snapshot RENAME TO gone');
  await expect(store.for({ client: 'a' }).facts({ kind: 'snapshots' })).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  await admin.query('ALTER TABLE gone RENAME TO snapshot');
});

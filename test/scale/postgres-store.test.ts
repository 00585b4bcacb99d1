import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { seedOf } from '../../demo/active-contracts.ts';
import { openPostgresStore, type PostgresStore, type StoreOptions } from '../../src/scale/postgres-store.ts';
import { startSealer } from '../../src/scale/sealer.ts';
import { openPool, type StatementPool } from '../../src/scale/statement-pool.ts';
import { migrateStore, STORE_FORM } from '../../src/scale/store-form.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { freshStore } from '../support/scale/fresh-store.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { plain } from '../support/scale/questions.ts';
import { type Tables, tablesOfFeed, upsert } from '../support/scale/rows.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

const SETTINGS = { dso: FLAT_DSO, periodUs: TEN_MINUTES_US };

const db = freshStore(SETTINGS);

const lines = linesOf(
  randomLedger(flatLedger(11, { migrations: 2, carriedOver: 10, migrationId: 3, updates: 300 })),
  'scan',
);
const tables = tablesOfFeed(lines, { dso: FLAT_DSO, migrationId: 0 });

const seal = async (): Promise<number> => (await db.client.query<{ seal: number }>('SELECT seal(1000)')).rows[0]!.seal;

const textOf = (snapshot: object): string =>
  JSON.stringify(snapshot, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

async function sealedSnapshots(): Promise<object[]> {
  await using store = openPostgresStore(db.server.settings());
  return (await store.facts({ kind: 'snapshots' })).map(plain);
}

describe('seal', () => {
  it('gives the snapshots of a replay, with supply and digests, however its rows come, and never changes one', async () => {
    using directory = temporaryDirectory();
    await replayInto(directory.at('views'), [directory.writeLines('feed.ndjson', lines)]);
    using store = openViewsStore(directory.at('views'));
    const replayed = (await store.facts({ kind: 'snapshots' })).map(plain);

    const random = createRandom(11);
    const pieces = Object.entries(tables).flatMap(([table, rows]) => {
      const shuffled = rows.map((row) => ({ row, at: random.below(1_000_000) })).sort((a, b) => a.at - b.at);
      return Array.from({ length: 20 }, (_, piece) => ({
        table,
        rows: shuffled.filter((_row, i) => i % 20 === piece).map(({ row }) => row),
        at: random.below(1_000_000),
      }));
    });
    let before: object[] = [];
    for (const { table, rows } of pieces.toSorted((a, b) => a.at - b.at)) {
      await upsert(db.client, { [table]: rows });
      await seal();
      const now = await sealedSnapshots();
      const known = new Set(now.map(textOf));
      expect(before.map(textOf).filter((snapshot) => !known.has(snapshot))).toEqual([]);
      before = now;
    }
    expect(before.length).toBeGreaterThan(20);
    expect(before).toEqual(replayed);

    // A replay after a recovery: the same rows again.
    await upsert(db.client, tables);
    expect(await seal()).toBe(0);
    expect(await sealedSnapshots()).toEqual(replayed);
  });

  it('stops at a fault and at a late event, and goes on with the other migrations', async () => {
    const [first] = tables.snapshot_control!;
    const newer = tables.snapshot_control!.at(-1)!.migration_id;
    await upsert(db.client, tables);
    await upsert(db.client, { snapshot_control: [{ ...first!, faults: 1 }] });
    await db.client.query("INSERT INTO late VALUES ($1, 0, '', 'A')", [newer]);
    expect(await seal()).toBe(0);
    await db.client.query('DELETE FROM late');
    expect(await seal()).toBeGreaterThan(0);
    const { rows } = await db.client.query('SELECT DISTINCT migration_id FROM snapshot');
    expect(rows).toEqual([{ migration_id: newer }]);
  });

  it('stops at rows that contradict each other, says so, and goes on with the other migrations', async () => {
    const [first] = tables.snapshot_control!;
    const newer = tables.snapshot_control!.at(-1)!.migration_id;
    await upsert(db.client, tables);
    await upsert(db.client, { snapshot_control: [{ ...first!, coins: 10_000 }] });
    expect(await seal()).toBeGreaterThan(0);
    const migrations = async (): Promise<unknown[]> =>
      (await db.client.query('SELECT DISTINCT migration_id AS id FROM snapshot ORDER BY 1')).rows.map(({ id }) => id);
    expect(await migrations()).toEqual([newer]);
    const { rows } = await db.client.query('SELECT * FROM contradiction');
    const reason = expect.stringMatching(/^owners have \d+ coins, and 10000 are active$/) as string;
    expect(rows).toEqual([{ migration_id: first!.migration_id, seq: '0', reason }]);
    // Nothing of that interval is left half done.
    const left = 'SELECT count(*)::int AS n FROM coin WHERE migration_id = $1 AND archived_seq IS NOT NULL';
    expect((await db.client.query(left, [first!.migration_id])).rows).toEqual([{ n: 0 }]);
    await upsert(db.client, { snapshot_control: [first!] });
    expect(await seal()).toBe(0);
    await db.client.query('DELETE FROM contradiction');
    expect(await seal()).toBeGreaterThan(0);
    expect(await migrations()).toEqual([first!.migration_id, newer]);
  });

  it('has the engine wait only where there is something to seal', async () => {
    await upsert(db.client, tables);
    const migrations = new Set(tables.snapshot_control!.map(({ migration_id }) => migration_id));
    for (const id of migrations) await db.client.query("INSERT INTO late VALUES ($1, 0, '', 'A')", [id]);
    await using engine = await db.server.connect();
    await engine.query('BEGIN; LOCK TABLE coin IN ROW EXCLUSIVE MODE');
    await db.client.query("SET lock_timeout = '100ms'");
    expect(await seal()).toBe(0);
    await db.client.query('DELETE FROM late');
    await expect(seal()).rejects.toThrow(/lock timeout/);
    await engine.query('COMMIT');
    // The server's own work on the table may be in the way for a moment.
    await db.client.query('RESET lock_timeout');
    expect(await seal()).toBeGreaterThan(0);
  });

  it('is all that a reader may do besides reading', async () => {
    await upsert(db.client, tables);
    await db.client.query('DROP ROLE IF EXISTS alice; CREATE ROLE alice LOGIN; GRANT holdfast_reader TO alice');
    await using reader = await db.server.connect('alice');
    await reader.query('SELECT seal(1000)');
    expect((await reader.query('SELECT * FROM snapshot')).rows.length).toBeGreaterThan(0);
    for (const table of ['owner_total', 'coin', 'sealed', 'snapshot', 'setting'])
      await expect(reader.query(`DELETE FROM ${table}`)).rejects.toThrow(/permission denied/);
    await db.client.query('DROP ROLE IF EXISTS engine; CREATE ROLE engine LOGIN; GRANT holdfast_writer TO engine');
    await using writer = await db.server.connect('engine');
    await upsert(writer, tables);
    await expect(writer.query('SELECT seal(1)')).rejects.toThrow(/permission denied/);
    await expect(writer.query('UPDATE sealed SET last_seq = 0')).rejects.toThrow(/permission denied/);
  });
});

it('two sealers seal all that is there, and make the snapshots of one', async () => {
  await upsert(db.client, tables);
  await using store = openPostgresStore(db.server.settings());
  {
    await using first = startSealer(db.server.settings(), pino({ level: 'silent' }));
    await using second = startSealer(db.server.settings(), pino({ level: 'silent' }));
    await expect.poll(async () => (await store.standing()).unsealed).toBe(0);
    expect([first.failure(), second.failure()]).toEqual([null, null]);
  }
  const sealed = await sealedSnapshots();
  await db.client.query('TRUNCATE sealed, snapshot; UPDATE coin SET archived_seq = NULL');
  await seal();
  expect(sealed).toEqual(await sealedSnapshots());
  expect(sealed.length).toBeGreaterThan(20);
});

describe('holdfast migrate', () => {
  async function migrate(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await holdfast('migrate', ...args);
    return `${code} ${stdout}${stderr}`;
  }

  it('makes the store, and says what it did or why it could not', async () => {
    const dso = ['--dso', FLAT_DSO];
    await db.client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const url = db.server.url();
    const said: readonly [RegExp, ...string[]][] = [
      [new RegExp(`^0 the store in database postgres was brought from form 0 to ${STORE_FORM}\n$`), url, ...dso],
      [new RegExp(`^0 the store in database postgres has form ${STORE_FORM} already\n$`), url, ...dso],
      [/^2 .*made with --dso .* new database/, url, '--dso', 'b::12'],
      [/^2 .*period of 600000000/, url, ...dso, '--snapshot-period', '1m'],
      [/^2 .*--dso is required/, url],
      [/^2 .*whole seconds/, url, ...dso, '--snapshot-period', '1500ms'],
      [/^1 .*user nobody: role "nobody" does not exist/, db.server.url('nobody'), ...dso],
      [/^1 .*127\.0\.0\.1:1, database b.*ECONNREFUSED/, 'postgres://a@127.0.0.1:1/b', ...dso],
      [/^1 .*does not support SSL/, `${url}?sslmode=require`, ...dso],
    ];
    for (const [pattern, ...args] of said) expect(await migrate('--postgres', ...args)).toMatch(pattern);
  });

  it.each([
    ['a password', 'postgres://a:secret"@db/b'],
    ['a password and without slashes', 'postgres:a:secret@db/b'],
    ['a very long password', `postgres://a:secret${'x'.repeat(100)}@db/b`],
    ['no user', 'postgres://db/b'],
    ['no database', 'postgres://a@db'],
    ['another parameter', 'postgres://a@db/b?options=x'],
    ['another protocol', 'http://a@db/b'],
  ])('refuses a URL with %s', async (_, url) => {
    const said = await migrate('--postgres', url, '--dso', FLAT_DSO);
    expect(said).toMatch(/^2 .*--postgres: given .* expected a URL such as/);
    expect(said).not.toContain('secret');
  });
});

it('a store of a newer Holdfast is refused by what reads it, with the advice to upgrade', async () => {
  await db.client.query('UPDATE setting SET version = version + 1');
  const said = /is of a newer Holdfast \(form \d+, and this one knows \d+\): upgrade this program/;
  await using store = openPostgresStore(db.server.settings());
  await expect(store.for().facts({ kind: 'snapshots' })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(said),
  });
  await expect(store.standing()).rejects.toThrow(said);
  const migrate = await holdfast('migrate', '--postgres', db.server.url(), '--dso', FLAT_DSO);
  expect(migrate).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
});

it('two may migrate at once', async () => {
  await db.client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const both = await Promise.all([1, 2].map(() => migrateStore(db.server.settings(), SETTINGS)));
  expect(both.map(({ from }) => from).sort()).toEqual([0, STORE_FORM]);
});

const LINES = linesOf(randomLedger(flatLedger(12, { migrationId: 0, updates: 60 })), 'scan');
const { record_time: recordTime } = JSON.parse(LINES[20]!) as { record_time: string };
const SEEDED = tablesOfFeed([...seedOf(LINES, { recordTime }), ...LINES.slice(20)], { dso: FLAT_DSO, migrationId: 0 });

it('between grid times a snapshot import is followed by the first snapshot, and the store tells its time as a directory does', async () => {
  await upsert(db.client, SEEDED);
  await seal();
  using directory = temporaryDirectory();
  const feed = directory.writeLines('feed.ndjson', [...seedOf(LINES, { recordTime }), ...LINES.slice(20)]);
  await replayInto(directory.at('views'), [feed]);
  using views = openViewsStore(directory.at('views'));
  await using store = openPostgresStore(db.server.settings());
  const asked = { kind: 'migration', migrationId: null } as const;
  const expected = await views.facts(asked);
  expect(expected).toMatchObject({ importedAt: Date.parse(recordTime) * 1000 + Number(recordTime.slice(23, 26)) });
  expect(await store.facts(asked)).toMatchObject({
    importedAt: expected!.importedAt,
    oldest: { recordTime: expected!.oldest.recordTime, digest: expected!.oldest.digest },
    newest: { recordTime: expected!.newest.recordTime, digest: expected!.newest.digest },
  });
  expect(await store.standing()).toMatchObject({ importedAt: expected!.importedAt, contradictions: [] });
});

const changedControl = (changes: (row: Tables[string][number], i: number) => object): Tables => ({
  ...SEEDED,
  snapshot_control: SEEDED.snapshot_control!.map((row, i) => ({ ...row, ...changes(row, i) })),
});

it.each([
  [
    'an incomplete snapshot import and updates',
    /incomplete snapshot import/,
    () => changedControl((_, i) => (i === 0 ? {} : { seeded_at: null })),
  ],
  [
    'a mark behind an update of its interval',
    /marker of a snapshot import/,
    () => changedControl((row) => (row.first_t == null ? {} : { first_t: Number(row.first_t) - 1 })),
  ],
  [
    'events of another period',
    /another snapshot period/,
    () => changedControl((row) => (row.first_t == null ? {} : { first_t: Number(row.first_t) + TEN_MINUTES_US })),
  ],
  [
    'a mark in a later interval',
    /marker of a snapshot import/,
    () => changedControl((row, i) => ({ seeded_at: i === 2 ? row.first_t : null })),
  ],
])('%s have no snapshot from there on', async (_, reason, tables) => {
  await upsert(db.client, tables());
  await seal();
  const { rows } = await db.client.query<{ reason: string }>('SELECT reason FROM contradiction');
  expect(rows.map((row) => row.reason)).toEqual([expect.stringMatching(reason)]);
  const { rows: snapshots } = await db.client.query(
    'SELECT FROM snapshot JOIN contradiction USING (migration_id) WHERE snapshot.seq >= contradiction.seq',
  );
  expect(snapshots).toEqual([]);
});

it('a store of the form before is brought to this one, and one of an older form is not', async () => {
  await db.client.query('UPDATE setting SET version = 3');
  await expect(migrateStore(db.server.settings(), SETTINGS)).rejects.toThrow('form 3, which this version cannot');
  await db.client.query('CREATE TABLE job (); ALTER TABLE owner_total DROP COLUMN no; UPDATE setting SET version = 4');
  expect(await migrateStore(db.server.settings(), SETTINGS)).toEqual({ from: 4, to: STORE_FORM });
  await upsert(db.client, SEEDED);
  expect(await seal()).toBeGreaterThan(0);
});

/** A store with sealed rows, for those who read it. */
async function sealedStore(): Promise<void> {
  await upsert(db.client, tables);
  await seal();
}

function open(options: StoreOptions = {}): PostgresStore {
  return openPostgresStore({ ...db.server.settings(), password: 'a secret of the owner' }, options);
}

function openOwnPool(waitMsMax = 10_000): StatementPool {
  const unavailable = ({ message }: Error): string => message;
  return openPool(db.server.settings(), { connections: 1, statementMsMax: 10_000, waitMsMax, unavailable });
}

it('a statement that takes too long is ended, of a client and of the process itself', async () => {
  await sealedStore();
  await using store = open({ readMsMax: 300, ownMsMax: 200 });
  await using holder = await db.server.connect();
  await holder.query('BEGIN; LOCK TABLE setting');
  const ended = (limit: string): object => ({ code: 'read_too_long', message: expect.stringContaining(limit) });
  await expect(store.for().facts({ kind: 'snapshots' })).rejects.toMatchObject(ended('0.3 s'));
  await expect(store.standing()).rejects.toMatchObject(ended('0.2 s'));
});

it('what finds no connection waits, not for long and not with too many; the process itself has its own', async () => {
  await sealedStore();
  await using store = open({ connections: 1, waitMsMax: 2_000 });
  const [a, b] = [store.for(), store.for(AbortSignal.abort())];
  await a.facts({ kind: 'snapshots' });
  await using holder = await db.server.connect();
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
  await Promise.all([slow, waiting]);
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
  await sealedStore();
  const said: string[] = [];
  await using store = open({ logger: pino({}, { write: (line: string) => void said.push(line) }) });
  await using holder = await db.server.connect();
  await using admin = await db.server.connect();
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
  await sealedStore();
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
  await sealedStore();
  await using store = open();
  await using admin = await db.server.connect();
  const dso = async (): Promise<string | null | undefined> =>
    (await store.facts({ kind: 'migration', migrationId: null }))?.dso;
  expect(await dso()).toMatch(/^DSO::/);
  await admin.query("UPDATE setting SET store = gen_random_uuid(), dso = 'other::12'");
  await expect.poll(dso).toBe('other::12');
  await admin.query('ALTER TABLE snapshot RENAME TO gone');
  await expect(store.for().facts({ kind: 'snapshots' })).rejects.toMatchObject({ code: 'store_unavailable' });
});

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/holdings/facts.ts';
import { openPostgresStore } from '../../src/scale/postgres-store.ts';
import { startSealer } from '../../src/scale/sealer.ts';
import { migrateStore, STORE_FORM } from '../../src/scale/store-form.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { freshStore } from '../support/scale/fresh-store.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { tablesOfFeed, upsert } from '../support/scale/rows.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

const SETTINGS = { dso: FLAT_DSO, periodUs: TEN_MINUTES_US };

const db = freshStore(SETTINGS);

const lines = linesOf(
  randomLedger(flatLedger(11, { migrations: 2, carriedOver: 10, migrationId: 3, updates: 300 })),
  'scan',
);
const tables = tablesOfFeed(lines, { dso: FLAT_DSO, migrationId: 0 });

const seal = async (): Promise<number> => (await db.client.query<{ seal: number }>('SELECT seal(1000)')).rows[0]!.seal;

function comparable(snapshot: Snapshot): object {
  const { migrationId, recordTime, contracts, owners, unlocked, locked, changesDigest, digest } = snapshot;
  return { migrationId, recordTime, contracts, owners, unlocked, locked, changesDigest, digest };
}

const textOf = (snapshot: object): string =>
  JSON.stringify(snapshot, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** The snapshots as the views have them: supply and digests. */
async function sealedSnapshots(): Promise<object[]> {
  const { rows } = await db.client.query<Record<string, string | Buffer>>(
    'SELECT * FROM snapshot ORDER BY migration_id, seq',
  );
  return rows.map((row) => ({
    migrationId: row.migration_id,
    recordTime: Number(row.seq) * TEN_MINUTES_US,
    contracts: Number(row.coins),
    owners: Number(row.owners),
    unlocked: BigInt(String(row.unlocked).replace('.', '')),
    locked: BigInt(String(row.locked).replace('.', '')),
    changesDigest: (row.changes_digest as Buffer).toString('hex'),
    digest: (row.digest as Buffer).toString('hex'),
  }));
}

describe('seal', () => {
  it('gives the snapshots of a replay, with supply and digests, however its rows come, and never changes one', async () => {
    using directory = temporaryDirectory();
    await replayInto(directory.at('views'), [directory.writeLines('feed.ndjson', lines)]);
    using store = openViewsStore(directory.at('views'));
    const replayed = (await store.facts({ kind: 'snapshots' })).map(comparable);

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
    expect(await migrate('--postgres', db.server.url(), ...dso)).toBe(
      `0 the store in database postgres was brought from form 0 to ${STORE_FORM}\n`,
    );
    expect(await migrate('--postgres', db.server.url(), ...dso)).toBe(
      `0 the store in database postgres has form ${STORE_FORM} already\n`,
    );
    expect(await migrate('--postgres', db.server.url(), '--dso', 'b::12')).toMatch(
      /^2 .*made with --dso .* new database/,
    );
    expect(await migrate('--postgres', db.server.url(), ...dso, '--snapshot-period', '1m')).toMatch(
      /^2 .*period of 600000000/,
    );
    expect(await migrate('--postgres', db.server.url())).toMatch(/^2 .*--dso is required/);
    expect(await migrate('--postgres', db.server.url(), ...dso, '--snapshot-period', '1500ms')).toMatch(
      /^2 .*whole seconds/,
    );
    expect(await migrate('--postgres', db.server.url('nobody'), ...dso)).toMatch(
      /^1 .*user nobody: role "nobody" does not exist/,
    );
    expect(await migrate('--postgres', 'postgres://a@127.0.0.1:1/b', ...dso)).toMatch(
      /^1 .*127\.0\.0\.1:1, database b.*ECONNREFUSED/,
    );
    expect(await migrate('--postgres', `${db.server.url()}?sslmode=require`, ...dso)).toMatch(
      /^1 .*does not support SSL/,
    );
  });

  it.each([
    ['a password', 'postgres://a:secret@db/b'],
    ['no user', 'postgres://db/b'],
    ['no database', 'postgres://a@db'],
    ['another parameter', 'postgres://a@db/b?options=x'],
    ['another protocol', 'http://a@db/b'],
  ])('refuses a URL with %s', async (_, url) => {
    expect(await migrate('--postgres', url, '--dso', FLAT_DSO)).toMatch(
      /^2 .*--postgres: given .* expected a URL such as/,
    );
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

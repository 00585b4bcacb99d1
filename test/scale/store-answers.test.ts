import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedOf } from '../../demo/active-contracts.ts';
import { answersFrom } from '../../src/holdings/answer.ts';
import { openPostgresStore, type PostgresStore } from '../../src/scale/postgres-store.ts';
import { migrateStore } from '../../src/scale/store-form.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { type HoldingsService, makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { type PostgresServer, startPostgres } from '../support/scale/postgres.ts';
import { answer, holdingsRequests, type Place, pages, plain, tableRequests } from '../support/scale/questions.ts';
import { tablesOfFeed, upsert } from '../support/scale/rows.ts';
import { linesOf, TEN_MINUTES_US } from '../support/views/replayed.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

interface World {
  readonly name: string;
  readonly dso: string;
  readonly lines: () => readonly string[];
}

const story = ['story.scan.ndjson', 'story-migration.scan.ndjson'];
const worlds: readonly World[] = [
  {
    name: 'the story',
    dso: 'DSO::1220bba319c9c823d166e41281696923ad9481c065e891e86e9b257381fa82439928',
    lines: () => story.flatMap((name) => readFileSync(fixture(name), 'utf8').trimEnd().split('\n')),
  },
  {
    name: 'a random ledger behind a snapshot import',
    dso: FLAT_DSO,
    lines() {
      const lines = linesOf(randomLedger(flatLedger(6, { migrationId: 0, updates: 250 })), 'scan');
      const { record_time } = JSON.parse(lines[100]!) as { record_time: string };
      const onGrid = Math.ceil(Date.parse(record_time) / 600_000) * 600_000;
      const recordTime = new Date(onGrid).toISOString().replace('Z', '000Z');
      // What it covers follows again.
      return [...seedOf(lines, { recordTime }), ...lines];
    },
  },
];

describe.each(worlds)('over $name', ({ name, dso, lines }) => {
  let sqlite: HoldingsService;
  let postgres: HoldingsService;
  let store: PostgresStore;
  let places: Place[];
  let owners: string[];

  beforeAll(async () => {
    const database = name.replaceAll(' ', '_');
    await using admin = await server.connect();
    await admin.query(`CREATE DATABASE ${database}`);
    await using client = await server.connect(undefined, database);
    await migrateStore(server.settings(undefined, database), { dso, periodUs: TEN_MINUTES_US });
    await upsert(client, tablesOfFeed(lines(), { dso, migrationId: 0 }));
    await client.query('SELECT seal(10000)');
    using directory = temporaryDirectory();
    const dataDir = await makeDataDirectory([directory.writeLines('feed.ndjson', lines())]);
    sqlite = openHoldings(dataDir);
    store = openPostgresStore(server.settings(undefined, database));
    postgres = openHoldings(dataDir, { answers: answersFrom(store, { emptyOwners: 'zero' }) });
    const snapshots = await sqlite.store.facts({ kind: 'snapshots' });
    const step = Math.ceil(snapshots.length / 5);
    places = snapshots
      .filter((_, i) => i % step === 0 || i === snapshots.length - 1)
      .map(({ migrationId, recordTime }) => ({
        migration_id: migrationId,
        record_time: new Date(recordTime / 1000).toISOString(),
      }));
    const listed = await answer(sqlite, { path: '/holdfast/v1/owners?limit=12' });
    owners = [
      ...(JSON.parse(listed.slice(4)) as { owners: { party_id: string }[] }).owners.map(({ party_id }) => party_id),
      'nobody::1220',
    ];
  });
  afterAll(async () => {
    sqlite[Symbol.dispose]();
    postgres[Symbol.dispose]();
    await store[Symbol.asyncDispose]();
  });

  it.each([
    ['the holdings area', holdingsRequests],
    ['the tables', tableRequests],
  ])('%s answers as it does over a data directory', async (_, requests) => {
    let good = 0;
    for (const ask of places.flatMap((place) => requests(place, owners))) {
      const expected = await answer(sqlite, ask);
      expect({ ask, answer: await answer(postgres, ask) }).toEqual({ ask, answer: expected });
      if (expected.startsWith('200')) good += 1;
    }
    expect(good).toBeGreaterThan(places.length * 8);
  });

  it('says that movements, balances and locks are not kept', async () => {
    const owner = `/holdfast/v1/owners/${owners[0]}`;
    const paths = [
      '/holdfast/v1/movements',
      owner,
      ...['movements', 'statement', 'locks'].map((name) => `${owner}/${name}`),
    ];
    const body = { at: [places[0]!.record_time], owners };
    for (const ask of [...paths.map((path) => ({ path })), { path: '/holdfast/v1/balances', body }])
      expect(await answer(postgres, ask), ask.path).toMatch(/^501 .*not kept by this store/);
  });

  it.each(['/v1/holdings/state', '/v2/holdings/state'])(
    'all pages of %s are equal but for their tokens',
    async (path) => {
      for (const place of places)
        expect(await pages(postgres, place, owners, path)).toEqual(await pages(sqlite, place, owners, path));
    },
  );

  it('every snapshot and every fact of streams is equal', async () => {
    for (const lookup of [{ kind: 'snapshots' }, { kind: 'newest snapshots' }] as const)
      expect((await store.facts(lookup)).map(plain)).toEqual((await sqlite.store.facts(lookup)).map(plain));
    const all = { after: 0, before: 1e9, until: 1e9, rows: 1000 };
    for (const from of [sqlite.store, store]) {
      const sealed = await from.facts({ kind: 'sealed snapshots', ...all });
      expect(sealed.map(({ no }) => no)).toEqual(sealed.map((_, i) => i + 1));
      expect((await from.facts({ kind: 'last sealed' }))!.no).toBe(sealed.length);
    }
    const migrations = { kind: 'sealed migrations', ...all } as const;
    expect(await store.facts(migrations)).toEqual(await sqlite.store.facts(migrations));
  });
});

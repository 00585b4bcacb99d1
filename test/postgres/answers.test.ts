import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersFrom } from '../../src/holdings/answer.ts';
import type { Snapshot } from '../../src/holdings/snapshot.ts';
import { migrateStore } from '../../src/postgres/migrate.ts';
import { openPostgresStore, type PostgresStore } from '../../src/postgres/store.ts';
import { FLAT_DSO, flatLedger } from '../support/flat/ledgers.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { type HoldingsService, makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { tablesOfFeed } from '../support/postgres/feed-tables.ts';
import { upsert } from '../support/postgres/rows.ts';
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { seedOf } from '../support/scan/active-contracts.ts';
import { linesOf, TEN_MINUTES_US } from '../support/views/replayed.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

interface Ask {
  readonly path: string;
  readonly body?: unknown;
}

/** A snapshot's place, as requests name it. */
interface Place {
  readonly migration_id: number;
  readonly record_time: string;
}

function holdingsRequests(place: Place, owners: readonly string[]): Ask[] {
  const request = { ...place, owner_party_ids: owners };
  const query = `migration_id=${place.migration_id}&before=${place.record_time}`;
  return [
    { path: '/v1/holdings/summary', body: request },
    { path: '/v0/holdings/summary', body: request },
    ...[0, 19_831, 19_850, 20_000, 10 ** 9].map((as_of_round) => ({
      path: '/v0/holdings/summary',
      body: { ...request, as_of_round },
    })),
    {
      path: '/v1/holdings/summary',
      body: { ...request, record_time: '2030-01-01T00:00:00Z', record_time_match: 'at_or_before' },
    },
    { path: '/v1/holdings/summary', body: { ...request, record_time: '2030-01-01T00:00:00Z' } },
    { path: '/v1/holdings/state', body: { ...request, page_size: 1000 } },
    { path: '/v0/holdings/state', body: { ...request, page_size: 1000 } },
    { path: '/v1/holdings/state', body: { ...request, page_size: 2, after: 999_999 } },
    { path: `/v0/state/acs/snapshot-timestamp?${query}` },
    { path: `/v0/state/acs/snapshot-timestamp-after?${query.replace('before', 'after')}` },
    { path: '/v0/migrations/last' },
  ];
}

function tableRequests({ migration_id, record_time }: Place, owners: readonly string[]): Ask[] {
  const at = `migration_id=${migration_id}&record_time=${record_time}`;
  const until = `migration_id=${migration_id}&to=${record_time}`;
  const paths = [
    `/holdfast/v1/snapshots?${until}&limit=3`,
    `/holdfast/v1/snapshots?${until}&order=asc&every=1h`,
    `/holdfast/v1/owners?${at}`,
    `/holdfast/v1/owners?${at}&limit=2&prefix=${owners[0]!.slice(0, 2)}`,
    ...['total', 'unlocked', 'locked'].map((by) => `/holdfast/v1/top?${at}&by=${by}&limit=5`),
    ...owners.slice(0, 4).flatMap((owner) => {
      const party = encodeURIComponent(owner);
      return [
        `/holdfast/v1/owners/${party}/history?${until}`,
        `/holdfast/v1/owners/${party}/changes?${until}`,
        `/holdfast/v1/owners/${party}/changes?migration_id=${migration_id}&from=${record_time}&order=asc`,
      ];
    }),
  ];
  return paths.map((path) => ({ path }));
}

async function answer({ app }: HoldingsService, { path, body }: Ask): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await app.request(path, body === undefined ? {} : init);
  const text = await response.text();
  return `${response.status} ${text}`;
}

/** All pages of a state, without the tokens, which are each store's own. */
async function pages(service: HoldingsService, place: Place, owners: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let after: unknown = null; ; ) {
    const body = { ...place, owner_party_ids: owners, page_size: 3, after };
    const answered = await answer(service, { path: '/v1/holdings/state', body });
    if (!answered.startsWith('200 ')) throw new Error(answered);
    const text = answered.slice(4);
    const { next_page_token } = JSON.parse(text) as { next_page_token: unknown };
    found.push(text.replace(/"next_page_token":\d+/, '"next_page_token":"a token"'));
    if (next_page_token === null) return found;
    after = next_page_token;
  }
}

function plain(snapshot: Snapshot): object {
  const { migrationId, recordTime, contracts, owners, unlocked, locked, changesDigest, digest } = snapshot;
  return { migrationId, recordTime, contracts, owners, unlocked, locked, changesDigest, digest };
}

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
    name: 'a random ledger',
    dso: FLAT_DSO,
    lines: () => linesOf(randomLedger(flatLedger(5, { migrations: 2, carriedOver: 10, updates: 250 })), 'scan'),
  },
  {
    name: 'a feed that begins with a seed',
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
    await migrateStore(client, { dso, periodUs: TEN_MINUTES_US });
    await upsert(client, tablesOfFeed(lines(), { dso, migrationId: 0 }));
    await client.query('SELECT seal(10000)');
    using directory = temporaryDirectory();
    const dataDir = await makeDataDirectory([directory.writeLines('feed.ndjson', lines())]);
    sqlite = openHoldings(dataDir);
    store = openPostgresStore({
      host: '127.0.0.1',
      port: server.port,
      database,
      user: 'owner',
      password: null,
      ssl: null,
    });
    postgres = openHoldings(dataDir, { answers: answersFrom(store, { emptyOwners: 'zero' }) });
    const snapshots = await sqlite.store.facts({ kind: 'snapshots' });
    const step = Math.ceil(snapshots.length / 8);
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

  it('all pages of a state are equal but for their tokens', async () => {
    for (const place of places)
      expect(await pages(postgres, place, owners)).toEqual(await pages(sqlite, place, owners));
  });

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

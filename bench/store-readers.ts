import { openPostgresStore } from '../src/scale/postgres-store.ts';
import { migrateStore } from '../src/scale/store-form.ts';
import { type PostgresServer, startPostgres } from '../test/support/scale/postgres.ts';
import { alternateLoads, post, printLoads } from './loads.ts';
import { type Server, startServer } from './processes.ts';
import { printTable, rounded } from './table.ts';

const PERIOD_US = 600_000_000;
const INTERVALS = 5;
/** The first interval's snapshot is of that time since 1970, in periods. */
const FIRST_SEQ = 3_000_000;
const TICK_MS = 10;

/**
 * Summaries of one owner from a store in PostgreSQL, by one and by two readers on one port, beside a bare route; and how long the
 * event loop waits while the largest owners are sorted. On a PostgreSQL of its own, whose rows are of one coin for each owner.
 */
export async function benchStoreReaders({ owners, rounds }: { owners: number; rounds: number }): Promise<void> {
  await using postgres = await startPostgres();
  console.error(`filling a store with ${owners} owners`);
  await fill(postgres, owners);
  const reading = (port: string): Promise<Server> =>
    startServer(['dist/main.js', 'serve', '--postgres', postgres.url(), '--reuse-port', '--port', port]);
  await using one = await reading('0');
  await using first = await reading('0');
  await using second = await reading(new URL(first.url).port);
  const recordTime = new Date(((FIRST_SEQ + INTERVALS - 1) * PERIOD_US) / 1000).toISOString();
  const body = JSON.stringify({ migration_id: 0, record_time: recordTime, owner_party_ids: ['owner-77::1220ab'] });
  const request = post(body);
  const path = '/v1/holdings/summary';
  const answer = await fetch(one.url + path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  if (!answer.ok) throw new Error(await answer.text());
  await using bare = await startServer(['bench/bare-server.ts', await answer.text()]);
  const all = [
    { name: 'bare route that reads and answers JSON', url: `${bare.url}/summary`, request, servers: [bare] },
    { name: 'one reader', url: one.url + path, request, servers: [one] },
    { name: 'two readers on one port', url: first.url + path, request, servers: [first, second] },
  ];
  const loads = alternateLoads('readers of a store', all, rounds);
  printLoads(
    'v1 summaries of serve --postgres',
    loads,
    all.map(({ name }) => name),
  );
  await printTop(postgres);
}

/** Sealed, as `seal()` would leave it. */
async function fill(server: PostgresServer, owners: number): Promise<void> {
  await using client = await server.connect();
  await migrateStore(server.settings(), { dso: 'DSO::1220ab', periodUs: PERIOD_US });
  await client.query(
    `INSERT INTO owner_total SELECT 0, 'owner-' || i || '::1220ab', s, 1, i + s, 0.001, 0.1, 0, 0, 0, 0, 100000000
     FROM generate_series(1, $1::int) i, generate_series($2::bigint, $3::bigint) s WHERE i % $4::int = s % $4::int OR s = $2`,
    [owners, FIRST_SEQ, FIRST_SEQ + INTERVALS - 1, INTERVALS],
  );
  await client.query(
    `INSERT INTO snapshot SELECT 0, s, s - $1::bigint + 1, $3::int, $3::int, 1, 0, ''::bytea, ''::bytea FROM generate_series($1::bigint, $2::bigint) s`,
    [FIRST_SEQ, FIRST_SEQ + INTERVALS - 1, owners],
  );
  await client.query('INSERT INTO snapshot_control VALUES (0, $1, 1, 0, 0, 0, 0, 0, NULL, NULL)', [FIRST_SEQ]);
  await client.query('INSERT INTO sealed VALUES (0, $1, $2, 1, $3, $3, 1, 0, NULL)', [
    FIRST_SEQ,
    FIRST_SEQ + INTERVALS - 1,
    owners,
  ]);
  await client.query('VACUUM ANALYZE');
}

/** How long a ranking takes, and the longest that a timer of this process was late meanwhile. */
async function printTop(server: PostgresServer): Promise<void> {
  await using store = openPostgresStore(server.settings());
  const place = { migrationId: 0, recordTime: (FIRST_SEQ + INTERVALS - 1) * PERIOD_US };
  let [longest, before] = [0, performance.now()];
  const ticks = setInterval(() => {
    longest = Math.max(longest, performance.now() - before - TICK_MS);
    before = performance.now();
  }, TICK_MS);
  const start = performance.now();
  const { total } = await store.facts({ kind: 'ranking', ...place });
  await store.facts({ kind: 'numbered owners', ...place, owners: [...total.subarray(0, 100)] });
  const tookMs = performance.now() - start;
  clearInterval(ticks);
  const rows = [[String(total.length), rounded(tookMs), rounded(longest)]];
  printTable('The largest owners of a snapshot, sorted by PostgreSQL', ['owners', 'ms', 'event loop waited ms'], rows);
}

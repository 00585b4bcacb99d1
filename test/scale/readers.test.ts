import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrateStore } from '../../src/scale/store-form.ts';
import { type Service, startService } from '../support/http/service.ts';
import { createRandom } from '../support/ledger/random.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { tablesOfFeed } from '../support/scale/feed-tables.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { type PostgresServer, startPostgres } from '../support/scale/postgres.ts';
import { type Tables, upsert } from '../support/scale/rows.ts';
import { linesOf, TEN_MINUTES_US } from '../support/views/replayed.ts';

const LINES = linesOf(randomLedger(flatLedger(21, { migrationId: 0, updates: 200 })), 'scan');
const TABLES = tablesOfFeed(LINES, { dso: FLAT_DSO, migrationId: 0 });
const OWNER = String(TABLES.owner_total![0]!.owner);

let server: PostgresServer;
/** One may seal, the other only reads. */
let readers: [Service, Service];
beforeAll(async () => {
  server = await startPostgres();
  await using admin = await server.connect();
  await migrateStore(server.settings(), { dso: FLAT_DSO, periodUs: TEN_MINUTES_US });
  await admin.query('CREATE ROLE sealing LOGIN; GRANT holdfast_reader TO sealing');
  await admin.query('CREATE ROLE reading LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reading');
  const start = (user: string): Promise<Service> => startService(['--postgres', server.url(user)]);
  readers = await Promise.all([start('sealing'), start('reading')]);
});
afterAll(async () => {
  for (const reader of readers) await reader[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

interface Listed {
  readonly snapshots: readonly { readonly record_time: string; readonly digest: string }[];
}

/** All snapshots that a reader has, by time; none before there is one. */
async function snapshotsOf(reader: Service): Promise<Map<string, string>> {
  const { status, body } = await reader.ask('/holdfast/v1/snapshots?limit=1000&order=asc');
  if (status !== 200) return new Map();
  return new Map((body as Listed).snapshots.map((snapshot) => [snapshot.record_time, JSON.stringify(snapshot)]));
}

const questionAt = (record_time: string): [string, object] => [
  '/v1/holdings/summary',
  { migration_id: 0, record_time, owner_party_ids: [OWNER] },
];

/** What a reader says of an owner at a time. */
async function said(reader: Service, time: string): Promise<string> {
  return JSON.stringify(await reader.ask(...questionAt(time)));
}

/** Pieces of the rows, in an order of their own. */
function pieces(count: number): Tables[] {
  const random = createRandom(21);
  const rows = Object.entries(TABLES).flatMap(([table, all]) =>
    all.map((row) => ({ table, row, at: random.below(count) })),
  );
  return Array.from({ length: count }, (_, piece) => {
    const own = rows.filter(({ at }) => at === piece);
    return Object.fromEntries(
      Map.groupBy(own, ({ table }) => table)
        .entries()
        .map(([table, found]) => [table, found.map(({ row }) => row)]),
    );
  });
}

it('two readers of a store, of which one seals, say the same of every snapshot while its rows arrive', async () => {
  await using engine = await server.connect();
  const known = new Map<string, string>();
  const answers = new Map<string, string>();
  const look = async (): Promise<void> => {
    for (const [i, listed] of (await Promise.all(readers.map(snapshotsOf))).entries())
      for (const [time, snapshot] of listed) {
        expect(known.get(time) ?? snapshot).toBe(snapshot);
        known.set(time, snapshot);
        const answer = await said(readers[i]!, time);
        expect(answers.get(time) ?? answer).toBe(answer);
        answers.set(time, answer);
      }
  };
  for (const piece of pieces(8)) {
    await upsert(engine, piece);
    await look();
  }
  const controls = TABLES.snapshot_control!.length;
  const sealed = async (): Promise<number> =>
    (await engine.query<{ n: number }>('SELECT COALESCE(max(last_link), 0)::int AS n FROM sealed')).rows[0]!.n;
  await expect.poll(sealed).toBe(controls);
  await look();
  expect(known.size).toBeGreaterThan(10);
  const [first, second] = await Promise.all(readers.map(snapshotsOf));
  expect(second).toEqual(first);
  expect(first).toEqual(known);
  const cannot = expect.stringMatching(/^nothing can be sealed: .*permission denied for function seal/) as string;
  const body = { ready: true, reasons: [], degraded: [cannot] };
  await expect.poll(() => readers[1].ask('/readyz')).toEqual({ status: 200, body });
  await expect.poll(async () => (await readers[0].ask('/readyz')).body).toMatchObject({ degraded: [] });
});

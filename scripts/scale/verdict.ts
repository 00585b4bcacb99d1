import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openPostgresStore } from '../../src/scale/postgres-store.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';
import type { ReadEvent } from '../../test/support/scale/fold.ts';
import type { PostgresServer } from '../../test/support/scale/postgres.ts';
import { plain } from '../../test/support/scale/questions.ts';
import { readCommitted } from '../../test/support/scale/read-committed.ts';
import { expectedTables, storedTexts, textsOf } from '../../test/support/scale/rows.ts';
import type { World } from '../../test/support/scale/world.ts';
import { replayInto } from '../../test/support/views/replayed.ts';

const END_MS_MAX = 180_000;

export interface Whole {
  readonly address: string;
  readonly flat: string;
  readonly server: PostgresServer;
  readonly periodUs: number;
  readonly dso: string;
}

/** What of the store is not what a fold of the events and a replay of the feed make of it, once all has come or waited for long. */
export async function differences(world: World, whole: Whole): Promise<string[]> {
  const wrong: string[] = [];
  const deadline = Date.now() + END_MS_MAX;
  let events: ReadEvent[][] = [];
  while (
    !isDeepStrictEqual(
      events.map((each) => each.at(-1)?.t),
      world.ends,
    )
  ) {
    if (Date.now() > deadline) return ['the decoders did not come to the end'];
    await sleep(500);
    const read = await readCommitted(whole.address, whole.flat);
    events = read.map((messages) => messages.map(({ value }) => JSON.parse(String(value)) as ReadEvent));
  }
  const expected = expectedTables(events);
  const texts = textsOf(expected);
  await using client = await whole.server.connect();
  let stored = await storedTexts(client, expected);
  while (!isDeepStrictEqual(stored, texts) && Date.now() < deadline) {
    await sleep(1_000);
    stored = await storedTexts(client, expected);
  }
  for (const [table, rows] of Object.entries(texts)) {
    const there = new Set(stored[table]);
    const missing = rows.filter((row) => !there.has(row));
    if (missing.length > 0 || there.size !== rows.length)
      wrong.push(`${table} has ${there.size} rows, not ${rows.length}; missing: ${missing.slice(0, 2).join('; ')}`);
    else console.log(`        ${table}: ${rows.length} rows, all as a fold has them`);
  }
  for (const table of ['fault', 'late', 'contradiction']) {
    const { rows } = await client.query(`SELECT * FROM ${table}`);
    if (rows.length > 0) wrong.push(`${table}: ${JSON.stringify(rows.slice(0, 3))}`);
  }
  await client.query('SELECT seal(1000000)');
  wrong.push(...(await otherSnapshots(world, whole)));
  return wrong;
}

async function otherSnapshots({ lines }: World, { server, periodUs, dso }: Whole): Promise<string[]> {
  using directory = temporaryDirectory();
  const feed = directory.writeLines('feed.ndjson', lines);
  await replayInto(directory.at('views'), [feed], { dso, snapshotPeriodUs: periodUs });
  using sqlite = openViewsStore(directory.at('views'));
  await using store = openPostgresStore(server.settings());
  const sealed = new Map((await store.facts({ kind: 'snapshots' })).map((each) => [placeOf(each), plain(each)]));
  const wanted = await sqlite.facts({ kind: 'snapshots' });
  const other = wanted.filter((each) => !isDeepStrictEqual(sealed.get(placeOf(each)), plain(each)));
  if (other.length === 0) console.log(`        snapshot: ${wanted.length}, with the supply and digests of a replay`);
  return other.slice(0, 3).map((each) => `snapshot ${placeOf(each)} is not that of a replay`);
}

const placeOf = ({ migrationId, recordTime }: { migrationId: number; recordTime: number }): string =>
  `${migrationId}/${recordTime}`;

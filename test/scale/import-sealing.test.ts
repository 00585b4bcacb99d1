import { expect, it } from 'vitest';
import { openPostgresStore } from '../../src/scale/postgres-store.ts';
import { migrateStore, STORE_FORM } from '../../src/scale/store-form.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { freshStore } from '../support/scale/fresh-store.ts';
import { FLAT_DSO, flatLedger } from '../support/scale/ledgers.ts';
import { type Tables, tablesOfFeed, upsert } from '../support/scale/rows.ts';
import { seedOf } from '../support/scan/active-contracts.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../support/views/replayed.ts';

const db = freshStore({ dso: FLAT_DSO, periodUs: TEN_MINUTES_US });

const LINES = linesOf(randomLedger(flatLedger(12, { migrationId: 0, updates: 60 })), 'scan');
const { record_time: recordTime } = JSON.parse(LINES[20]!) as { record_time: string };
const SEEDED = tablesOfFeed([...seedOf(LINES, { recordTime }), ...LINES.slice(20)], { dso: FLAT_DSO, migrationId: 0 });

const seal = async (): Promise<number> => (await db.client.query<{ seal: number }>('SELECT seal(1000)')).rows[0]!.seal;

it('between grid times a seed is followed by the first snapshot, and the store tells its time as a directory does', async () => {
  await upsert(db.client, SEEDED);
  await seal();
  using directory = temporaryDirectory();
  const feed = directory.writeLines('feed.ndjson', [...seedOf(LINES, { recordTime }), ...LINES.slice(20)]);
  await replayInto(directory.at('views'), [feed]);
  using views = openViewsStore(directory.at('views'));
  await using store = openPostgresStore(db.server.settings());
  const asked = { kind: 'migration', migrationId: null } as const;
  const expected = await views.facts(asked);
  expect(expected).toMatchObject({ seededAt: Date.parse(recordTime) * 1000 + Number(recordTime.slice(23, 26)) });
  expect(await store.facts(asked)).toMatchObject({
    seededAt: expected!.seededAt,
    oldest: { recordTime: expected!.oldest.recordTime, digest: expected!.oldest.digest },
    newest: { recordTime: expected!.newest.recordTime, digest: expected!.newest.digest },
  });
  expect(await store.standing()).toMatchObject({ seededAt: expected!.seededAt, contradictions: [] });
});

const changedControl = (changes: (row: Tables[string][number], i: number) => object): Tables => ({
  ...SEEDED,
  snapshot_control: SEEDED.snapshot_control!.map((row, i) => ({ ...row, ...changes(row, i) })),
});

it.each([
  [
    'half a seed and updates',
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
  const settings = { dso: FLAT_DSO, periodUs: TEN_MINUTES_US };
  await db.client.query('UPDATE setting SET version = 3');
  await expect(migrateStore(db.server.settings(), settings)).rejects.toThrow('form 3, which this version cannot');
  await db.client.query('CREATE TABLE job (); ALTER TABLE owner_total DROP COLUMN no; UPDATE setting SET version = 4');
  expect(await migrateStore(db.server.settings(), settings)).toEqual({ from: 4, to: STORE_FORM });
  await upsert(db.client, SEEDED);
  expect(await seal()).toBeGreaterThan(0);
});

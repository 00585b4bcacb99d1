import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { NO_COIN, type Order, type Ranking, type SnapshotPlace } from '../../src/holdings/facts.ts';
import { readChanges } from '../../src/views/read/insight-reader.ts';
import { createRankings } from '../../src/views/read/server-answers.ts';
import { NOT_BOUNDED } from '../../src/views/read/stored-snapshots.ts';
import { openEventLoopStore, openViewsStore } from '../../src/views/read/views-store.ts';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory } from '../support/http/holdings-service.ts';

const store = openViewsStore(await makeDataDirectory([fixture('story.scan.ndjson')]));
afterAll(() => store[Symbol.dispose]());
const places = readExpected('story').snapshots.map(({ migration_id, record_time }) => ({
  migrationId: migration_id,
  recordTime: Date.parse(record_time) * 1000,
}));

/** Rankings, and of which snapshots they were made. */
function counted(rank = (place: SnapshotPlace): Promise<Ranking> => store.facts({ kind: 'ranking', ...place })) {
  const made: number[] = [];
  const rankings = createRankings();
  const over = rankings.over(store, (place) => {
    made.push(places.findIndex(({ recordTime }) => recordTime === place.recordTime));
    return rank(place);
  });
  return { made, ask: (at: number) => over.facts({ kind: 'ranking', ...places[at]! }), over };
}

describe('rankings', () => {
  test('are made once for all who ask at the same time, and kept', async () => {
    const { made, ask } = counted();
    const asked = await Promise.all(Array.from({ length: 50 }, () => ask(0)));
    expect(new Set(asked).size).toBe(1);
    expect(await ask(0)).toBe(asked[0]);
    expect(made).toEqual([0]);
  });

  test('are kept of the last few snapshots asked for', async () => {
    const { made, ask } = counted();
    for (const at of [0, 1, 2, 3, 0, 4, 0, 2, 3, 4, 1]) await ask(at);
    expect(made).toEqual([0, 1, 2, 3, 4, 1]);
  });

  test('take no more than 64 MB, but for the newest one', async () => {
    const large = (size: number) => async (): Promise<Ranking> => {
      const order = new Uint32Array(size);
      return { total: order, unlocked: order, locked: order };
    };
    const million = counted(large(2_000_000));
    for (const at of [0, 1, 2, 1, 2, 0]) await million.ask(at);
    expect(million.made).toEqual([0, 1, 2, 0]);
    const enormous = counted(large(10_000_000));
    for (const at of [0, 0, 1, 1, 0]) await enormous.ask(at);
    expect(enormous.made).toEqual([0, 1, 0]);
  });

  test('that could not be made are made again', async () => {
    let fails = true;
    const { made, ask } = counted(async (place) => {
      if (fails) throw new Error('the disk is gone');
      return store.facts({ kind: 'ranking', ...place });
    });
    await expect(Promise.all([ask(0), ask(0)])).rejects.toThrow('the disk is gone');
    fails = false;
    expect((await ask(0)).total).toHaveLength(4);
    expect(made).toEqual([0, 0]);
  });
});

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const expected = readExpected('story');
const lowest = BigInt(expected.lowest_open_round);
const newest = { migrationId: null, recordTime: null, match: 'exact' } as const;
const writer = new DatabaseFile(join(dataDir, 'views.db'));
afterAll(() => void writer.close());

describe("the store of a server's event loop", () => {
  test('sees one moment in all reads of a turn of the event loop, and what was committed since in the next', async () => {
    using store = openEventLoopStore(dataDir);
    const lowestRound = async (): Promise<bigint | null> =>
      (await store.facts({ kind: 'owners', snapshot: newest, owners: [], round: 'lowest open' })).round;
    expect(await lowestRound()).toBe(lowest);
    writer.prepare('UPDATE round SET number = number + 1000').run();
    expect(await lowestRound()).toBe(lowest);
    await nextTurn();
    expect(await lowestRound()).toBe(lowest + 1000n);
  });

  test('refuses unbounded reads, and continues', async () => {
    using store = openEventLoopStore(dataDir);
    const page = { snapshot: newest, owners: expected.owner_party_ids, after: null, pageSize: 1 } as const;
    await expect(store.facts({ kind: 'page', ...page })).rejects.toBe(NOT_BOUNDED);
    await expect(store.facts({ kind: 'snapshots' })).rejects.toBe(NOT_BOUNDED);
    expect(await store.facts({ kind: 'last migration' })).toBe(0);
  });

  test('may be closed in the middle of a turn', async () => {
    const store = openEventLoopStore(dataDir);
    expect(await store.facts({ kind: 'last migration' })).toBe(0);
    store[Symbol.dispose]();
    await nextTurn();
    await expect(store.facts({ kind: 'last migration' })).rejects.toThrow('not open');
  });
});

// A ledger whose clock is simulated begins there.
test('a change at the first snapshot of all, that of 1970-01-01, is in the list in either order', () => {
  const version = { seq: 1, totals: { unlocked: 5n, locked: 0n, contracts: 1 } };
  const versions = {
    at: (_: number, seq: number) => (seq < 1 ? null : version),
    between: () => [version],
    all: () => [],
  };
  const first = { time: 0, seq: 1 };
  const grid = { seqBefore: () => 0, seqAt: () => 1, find: () => first };
  const about = { migrationId: 0, party: 'alice::12', from: 0, to: 0, rows: 10, grid };
  const change = { recordTime: 0, before: NO_COIN, after: version.totals };
  for (const order of ['asc', 'desc'] satisfies Order[])
    expect(readChanges(versions, 1, { ...about, order })).toEqual({ before: NO_COIN, changes: [change] });
});

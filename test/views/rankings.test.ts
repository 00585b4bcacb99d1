import { afterAll, describe, expect, test } from 'vitest';
import type { Ranking, SnapshotPlace } from '../../src/holdings/facts.ts';
import { createRankings } from '../../src/views/read/server-answers.ts';
import { openViewsStore } from '../../src/views/read/views-store.ts';
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

  test('leave all other facts to the store', async () => {
    expect(await counted().over.facts({ kind: 'last migration' })).toBe(0);
  });
});

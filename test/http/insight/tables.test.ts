import { afterAll, describe, expect, it, test } from 'vitest';
import { seededFeed } from '../../../demo/active-contracts.ts';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { allRows, askTable, readTable } from '../../support/http/table-pages.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import {
  changeRows,
  type FoldedSnapshot,
  ownerRows,
  pointRows,
  rankedRows,
  snapshotRows,
} from '../../support/ledger/oracle-tables.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { plainDecimal, shortTime } from '../../support/ledger/wire-text.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { linesOf, replayInto, TEN_MINUTES_US } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const STRANGER = 'nobody::1220ee';
const V1 = '/holdfast/v1';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const seeds = Array.from({ length: soakCount(2) }, (_, seed) => seed + 1);

describe.each(seeds)('the tables of random ledger %i', async (seed) => {
  const random = createRandom(seed);
  const options = { migrations: 1 + (seed % 3), carriedOver: seed % 2 === 0 ? 15 : 0, shares: { checkpoint: 0 } };
  const items = [...randomLedger(oddLedger(seed, { ...options, updates: 250 }))];
  const cuts = Array.from({ length: 4 }, () => 1 + random.below(items.length)).sort((a, b) => a - b);
  const { dataDir, snapshots } = await replayWithForced(folder, items, cuts);
  const { app, ...service } = openHoldings(dataDir);
  afterAll(() => service[Symbol.dispose]());

  const migrations = [...new Set(snapshots.map(({ migrationId }) => migrationId))];
  const of = (id: number): FoldedSnapshot[] => snapshots.filter(({ migrationId }) => migrationId === id);
  const gridOf = (id: number): FoldedSnapshot[] => of(id).filter(({ forced }) => !forced);
  const owners = [...new Set(snapshots.flatMap((each) => [...each.owners.keys()])), STRANGER];
  /** Around a snapshot, where answers turn. */
  const someTime = (id: number): number => random.pick(of(id)).recordTime + random.pick([-1, 0, 1, 77_777_777]);
  const someLimit = (): number => random.pick([1, 2, 7, 100, 1000]);

  test('has forced snapshots among the others', () => {
    expect(snapshots.filter(({ forced }) => forced).length).toBeGreaterThan(0);
  });

  test.each(migrations)('snapshots of migration %i, in both orders, within times, at multiples', async (id) => {
    for (const order of ['asc', 'desc'] as const)
      for (const every of [null, '10m', '30m', '2h']) {
        const [from, to] = random.chance(0.3) ? [null, null] : [someTime(id), someTime(id)].sort((a, b) => a - b);
        const step = every === null ? 1 : { '10m': 1, '30m': 3, '2h': 12 }[every]! * TEN_MINUTES_US;
        const wanted = (every === null ? of(id) : gridOf(id)).filter(({ recordTime }) => {
          return recordTime % step === 0 && recordTime >= (from ?? 0) && recordTime <= (to ?? Infinity);
        });
        const given = { migration_id: id, order, every, from: timeText(from), to: timeText(to), limit: someLimit() };
        const rows = await allRows(app, `${V1}/snapshots`, given);
        expect(rows).toEqual(order === 'asc' ? snapshotRows(wanted) : snapshotRows(wanted).reverse());
      }
  });

  test.each(migrations)('owners of migration %i at any snapshot, all or of a prefix', async (id) => {
    for (let i = 0; i < 6; i++) {
      const time = Math.max(someTime(id), of(id)[0]!.recordTime);
      const until = of(id).filter(({ recordTime }) => recordTime <= time);
      const prefix = random.chance(0.5) ? null : random.pick(owners).slice(0, 1 + random.below(4));
      const given = { migration_id: id, record_time: timeText(time), prefix, limit: someLimit() };
      expect(await allRows(app, `${V1}/owners`, given)).toEqual(ownerRows(until, prefix ?? ''));
      const { head } = readTable(await (await askTable(app, `${V1}/owners`, given)).text());
      expect(head).toEqual({ record_time: shortTime(until.at(-1)!.recordTime), migration_id: id });
    }
  });

  test.each(migrations)('the largest owners of migration %i, by each amount', async (id) => {
    for (const by of ['total', 'unlocked', 'locked', null] as const)
      for (const snapshot of [of(id).at(-1)!, random.pick(of(id)), random.pick(of(id))]) {
        const given = { migration_id: id, record_time: timeText(snapshot.recordTime), by, limit: someLimit() };
        const ranked = rankedRows(snapshot, by ?? 'total');
        expect(await allRows(app, `${V1}/top`, given)).toEqual(ranked);
        const name = random.pick(owners);
        const start = random.below(name.length - 2);
        const contains = name.slice(start, start + 1 + random.below(6));
        const isFound = ({ party_id }: (typeof ranked)[number]): boolean =>
          String(party_id).toLowerCase().includes(contains.toLowerCase());
        const found = await allRows(app, `${V1}/top`, { ...given, contains: contains.toUpperCase() });
        expect(found).toEqual(ranked.filter(isFound));
        const { head } = readTable(await (await askTable(app, `${V1}/top`, given)).text());
        expect(head).toEqual({
          record_time: shortTime(snapshot.recordTime),
          migration_id: id,
          by: by ?? 'total',
          owners_total: snapshot.owners.size,
          total: plainDecimal(snapshot.supply.unlocked + snapshot.supply.locked),
        });
      }
  });

  test.each(migrations)('the history of every owner in migration %i', async (id) => {
    for (const party of owners)
      for (const every of ['10m', '50m', '3h']) {
        const [from, to] = random.chance(0.3) ? [null, null] : [someTime(id), someTime(id)].sort((a, b) => a - b);
        const step = { '10m': 1, '50m': 5, '3h': 18 }[every]! * TEN_MINUTES_US;
        const within = of(id).filter(({ recordTime }) => recordTime >= (from ?? 0) && recordTime <= (to ?? Infinity));
        const given = { migration_id: id, every, from: timeText(from), to: timeText(to) };
        const path = `${V1}/owners/${encodeURIComponent(party)}/history`;
        expect(await allRows(app, path, given)).toEqual(pointRows(within, party, step));
      }
  });

  test.each(migrations)('the changes of every owner in migration %i, which add up', async (id) => {
    for (const party of owners)
      for (const order of ['asc', 'desc', null] as const) {
        const [from, to] = random.chance(0.3) ? [null, null] : [someTime(id), someTime(id)].sort((a, b) => a - b);
        const all = changeRows(gridOf(id), party);
        const wanted = all.filter(({ record_time }) => {
          const time = Date.parse(String(record_time)) * 1000;
          return time >= (from ?? 0) && time <= (to ?? Infinity);
        });
        const given = { migration_id: id, order, from: timeText(from), to: timeText(to), limit: someLimit() };
        const rows = await allRows(app, `${V1}/owners/${party}/changes`, given);
        expect(rows).toEqual(order === 'asc' ? wanted : wanted.reverse());
      }
  });

  test('are of the newest migration and its newest snapshot unless asked otherwise', async () => {
    const newest = snapshots.at(-1)!;
    const { head } = readTable(await (await askTable(app, `${V1}/top`)).text());
    expect(head).toMatchObject({ migration_id: newest.migrationId, record_time: shortTime(newest.recordTime) });
    expect(await allRows(app, `${V1}/owners`, {})).toEqual(ownerRows(of(newest.migrationId), ''));
    const listed = readTable(await (await askTable(app, `${V1}/snapshots`)).text());
    expect(listed.rows[0]).toEqual(snapshotRows([newest])[0]);
    expect(service.log).toEqual([]);
  });
});

test('a history ends with the newest snapshot at or before its end, marked where it is off the step', async () => {
  const ledger = `00:01 : +a alice 10
    00:12 : +b alice 5
    00:38 : -a
    00:41 : +c alice 1
    00:52 :`;
  const { dataDir, snapshots } = await replayWithForced(folder, parseLedger(ledger), [2, 5]);
  using service = openHoldings(dataDir);
  expect(
    snapshots.map(({ recordTime, forced }) => `${shortTime(recordTime).slice(11, 16)}${forced ? '!' : ''}`),
  ).toEqual(['00:10', '00:12!', '00:20', '00:30', '00:40', '00:50', '00:52!']);
  const historyOf = async (name: string, given = {}): Promise<string[]> =>
    (await allRows(service.app, `${V1}/owners/${partyOf(name)}/history`, given)).map(
      ({ record_time, contracts, partial }) => `${String(record_time).slice(11, 16)} ${contracts} ${partial}`,
    );
  const at = (time: string): string => `2025-02-12T${time}Z`;
  expect(await historyOf('alice', { every: '20m', to: at('00:50:00') })).toEqual([
    '00:20 2 undefined',
    '00:40 1 undefined',
    '00:50 2 true',
  ]);
  // A forced snapshot is on no step.
  expect(await historyOf('alice', { every: '30m' })).toEqual(['00:30 2 undefined', '00:52 2 true']);
  expect(await historyOf('alice', { every: '20m', to: at('00:49:59') })).toEqual([
    '00:20 2 undefined',
    '00:40 1 undefined',
  ]);
  expect(await historyOf('alice', { every: '1d', to: at('00:13:00') })).toEqual(['00:12 2 true']);
  expect(await historyOf('alice', { from: at('00:11:00'), to: at('00:19:00') })).toEqual(['00:12 2 true']);
  expect(await historyOf('alice', { from: at('00:13:00'), to: at('00:19:00') })).toEqual([]);
  expect(await historyOf('nobody', { every: '1d' })).toEqual(['00:52 0 true']);
});

test('a coin that only a forced snapshot saw is in that one, and nowhere else', async () => {
  const ledger = `00:01 : +a alice 10
    00:12 : +b bob 5 ; +c carol 1
    00:13 : -b
    00:25 : -c
    00:26 : +d dave 1 ; +e alice 1
    00:27 : -d
    00:41 :`;
  const { dataDir, snapshots } = await replayWithForced(folder, parseLedger(ledger), [2]);
  using service = openHoldings(dataDir);
  const partiesOf = async (target: string, given = {}): Promise<unknown[]> =>
    (await allRows(service.app, `${V1}/${target}`, given)).map(({ party_id }) => String(party_id).split('::')[0]);
  const forced = { record_time: '2025-02-12T00:12:00Z' };
  expect(snapshots.filter((each) => each.forced).map(({ recordTime }) => shortTime(recordTime))).toEqual([
    forced.record_time,
  ]);
  expect(await partiesOf('top', forced)).toEqual(['alice', 'bob', 'carol']);
  expect(await partiesOf('owners', forced)).toEqual(['alice']);
  expect(await partiesOf('owners')).toEqual(['alice', 'carol']);
  const changesOf = async (name: string): Promise<unknown[]> =>
    (await allRows(service.app, `${V1}/owners/${partyOf(name)}/changes`, { order: 'asc' })).map(
      ({ record_time, contracts }) => `${String(record_time).slice(11, 16)} ${contracts}`,
    );
  expect(await changesOf('alice')).toEqual(['00:10 1', '00:30 2']);
  expect(await changesOf('bob')).toEqual([]);
  expect(await changesOf('carol')).toEqual(['00:20 1', '00:30 0']);
  expect(await changesOf('dave')).toEqual([]);
});

function timeText(micros: number | null | undefined): string | null {
  return micros === null || micros === undefined ? null : shortTime(micros);
}

const directory = freshDirectory();

it('says when the views of a migration began with the active contracts of a node, and of no other', async () => {
  const lines = linesOf(
    parseLedger('00:01 : +a alice 10\n00:12 : -a ; +b bob 5\n00:21 :\n00:31 :\n00:41 m1 :\n00:51 m1 :'),
    'scan',
  );
  const recordTime = '2025-02-12T00:15:00.000000Z';
  const feed = directory.writeLines('feed.ndjson', seededFeed(lines, { recordTime }));
  expect((await replayInto(directory.at('data'), [feed])).halted).toBeNull();
  using service = openHoldings(directory.at('data'));
  const headOf = async (migration_id: number): Promise<object> =>
    readTable(await (await askTable(service.app, '/holdfast/v1/snapshots', { migration_id })).text()).head;
  expect(await headOf(0)).toMatchObject({ migration_id: 0, seeded_at: '2025-02-12T00:15:00Z' });
  expect(await headOf(1)).toMatchObject({ migration_id: 1, seeded_at: null });
});

import { cpSync, readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import { afterAll, describe, expect, it, test } from 'vitest';
import { seededFeed } from '../../../demo/active-contracts.ts';
import { buildMigration, buildStory, PEOPLE } from '../../../fixtures/story.ts';
import { fixture } from '../../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings } from '../../support/http/holdings-service.ts';
import { allRows, askTable, type Row, readTable } from '../../support/http/table-pages.ts';
import { eventLogs, withEventLogs } from '../../support/ledger/event-log.ts';
import { importsOfOne } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { foldMovements, type MovementHistory, statementRows } from '../../support/ledger/oracle-movements.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { plainDecimal, shortTime } from '../../support/ledger/wire-text.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { migrate } from '../../support/views/migrating.ts';
import { linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const V1 = '/holdfast/v1';
const STRANGER = 'nobody::1220ee';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const directory = freshDirectory();

const ownPath = (party: string, table: string): string => `${V1}/owners/${encodeURIComponent(party)}/${table}`;

async function headOf(app: Hono, path: string, given: Row = {}): Promise<Row> {
  return readTable(await (await askTable(app, path, given)).text()).head;
}

async function faultOf(app: Hono, path: string, given: Row = {}): Promise<string> {
  const response = await askTable(app, path, given);
  return `${response.status} ${JSON.parse(await response.text()).error}`;
}

const seeds = Array.from({ length: soakCount(4) }, (_, seed) => seed + 1);

describe.each(seeds)('movements of random ledger %i', async (seed) => {
  const format = seed % 4 === 0 ? 'ledger-api' : 'scan';
  const isScan = format === 'scan';
  const random = createRandom(seed);
  const shares = isScan ? { checkpoint: 0, olderMigration: 0.3 } : { repair: 0.1 };
  const options = { migrations: isScan ? 1 + (seed % 3) : 1, carriedOver: 15, synchronizers: 1 + (seed % 3), shares };
  const all = [...randomLedger(oddLedger(seed, { ...options, updates: 200 }))];
  const items = isScan ? all.flatMap((item) => importsOfOne(item)) : all;
  const cuts = Array.from({ length: 4 }, () => 1 + random.below(items.length)).sort((a, b) => a - b);
  const { dataDir, snapshots } = await replayWithForced(folder, items, cuts, format);
  const { app, ...service } = openHoldings(dataDir);
  afterAll(() => service[Symbol.dispose]());

  const histories = foldMovements(items, { periodMicros: TEN_MINUTES_US, cuts, knowsAll: isScan });
  const movements = histories.flatMap(({ updates }) => updates.flat());
  const owners = [...new Set(movements.map(({ party }) => party)), STRANGER];
  /** Around the time of a movement, where answers turn; none, or long ago. */
  const someTime = ({ updates }: MovementHistory): number =>
    random.pick(updates.filter((each) => each.length > 0))[0]!.countedAt + random.pick([-1, 0, 1, 77_777_777]);
  const someRange = (history: MovementHistory): readonly (number | null)[] =>
    random.chance(0.3) ? [null, null] : [someTime(history), someTime(history)].sort((a, b) => a - b);
  const textsOf = ([from, to]: readonly (number | null)[]): Row => ({
    from: from === null ? null : shortTime(from!),
    to: to === null ? null : shortTime(to!),
  });
  const inRange = ([from, to]: readonly (number | null)[], time: number): boolean =>
    time >= (from ?? 0) && time <= (to ?? Infinity);

  test('has updates that count later than their record time, and two at one time', () => {
    const times = movements.map(({ row }) => [row.record_time, row.counted_at]);
    expect(times.some(([recorded, counted]) => recorded !== counted)).toBe(options.synchronizers > 1);
    const counted = histories.flatMap(({ updates }) => updates.flatMap(([first]) => first?.countedAt ?? []));
    if (options.synchronizers > 1) expect(new Set(counted).size).toBeLessThan(counted.length);
  });

  test.each(histories)('of each owner in migration $migrationId, page by page', async (history) => {
    const { migrationId: migration_id, updates } = history;
    for (const party of owners)
      for (const order of ['asc', 'desc', null] as const) {
        const range = someRange(history);
        const kind = random.pick([null, 'in', 'out,in', 'lock,unlock']);
        const limit = random.pick([1, 2, 7, 100, 1000]);
        const own = updates.flat().filter((each) => each.party === party && inRange(range, each.countedAt));
        const wanted = own
          .map(({ row }) => row)
          .filter((row) => kind === null || kind.split(',').includes(row.kind as string));
        const given = { migration_id, order, kind, limit, ...textsOf(range) };
        const rows = await allRows(app, ownPath(party, 'movements'), given);
        expect(rows).toEqual(order === 'asc' ? wanted : wanted.reverse());
      }
  });

  test.each(histories)('of all owners in migration $migrationId, the largest too', async (history) => {
    const { migrationId: migration_id, updates } = history;
    const sizes = updates.flat().map(({ row }) => String(row.change_total).replace('-', ''));
    for (const min of [null, '0', random.pick(sizes), random.pick(sizes)]) {
      const range = someRange(history);
      const large = updates.toReversed().flatMap((update) =>
        update.filter(({ change: { unlocked, locked }, countedAt }) => {
          const size = unlocked + locked < 0n ? -unlocked - locked : unlocked + locked;
          return size >= BigInt((min ?? '0').replace('.', '')) && inRange(range, countedAt);
        }),
      );
      const given = { migration_id, min, limit: random.pick([1, 3, 100, 1000]), ...textsOf(range) };
      const rows = await allRows(app, `${V1}/movements`, given);
      expect(rows).toEqual(large.map(({ party, row }) => ({ party_id: party, ...row })));
    }
  });

  test.each(histories)('add up to the differences of snapshots in migration $migrationId', async ({ migrationId }) => {
    const grid = snapshots.filter((each) => each.migrationId === migrationId);
    for (const party of owners.slice(0, 5)) {
      const given = { migration_id: migrationId, limit: 1000 };
      const rows = (await allRows(app, ownPath(party, 'movements'), given)).map((row) => ({
        time: micros(row.counted_at),
        change: [units(row.change_unlocked), units(row.change_locked)] as const,
      }));
      for (const [i, { recordTime, owners: totals }] of grid.entries()) {
        if (i === 0) continue;
        const between = rows.filter(({ time }) => time > grid[i - 1]!.recordTime && time <= recordTime);
        const sums = [0, 1].map((side) => between.reduce((sum, { change }) => sum + change[side]!, 0n));
        const [before, after] = [grid[i - 1]!.owners.get(party), totals.get(party)];
        const difference = (side: 'unlocked' | 'locked'): bigint => (after?.[side] ?? 0n) - (before?.[side] ?? 0n);
        expect(sums).toEqual([difference('unlocked'), difference('locked')]);
      }
    }
  });

  test.each(histories)('make statements of each owner in migration $migrationId', async (history) => {
    const { migrationId: migration_id, begin, appliedTo } = history;
    for (const party of owners)
      for (const every of ['1h', '77m', 'all', '1d', null]) {
        const range = someRange(history);
        const [from, to] = [Math.max(range[0] ?? begin, begin), Math.min(range[1] ?? appliedTo, appliedTo)];
        const step = { '1h': 60, '77m': 77, all: Infinity, '1d': 1440 }[every ?? '1d']! * 60_000_000;
        const ends: number[] = from < to ? [to] : [];
        for (let end = Math.floor((to - 1) / step) * step; end > from; end -= step) ends.unshift(end);
        const given = { migration_id, every, ...textsOf(range) };
        const rows = await allRows(app, ownPath(party, 'statement'), given);
        expect(rows).toEqual(statementRows(history, { party, from, ends }));
        const head = { migration_id, party_id: party, movements_since: null, every: every ?? '1d' };
        expect(await headOf(app, ownPath(party, 'statement'), given)).toEqual(head);
      }
  });

  test('are of the newest migration with an update unless asked otherwise', async () => {
    const newest = Math.max(...histories.map(({ migrationId }) => migrationId));
    const head = { migration_id: newest, movements_since: null };
    expect(await headOf(app, `${V1}/movements`)).toEqual(head);
    expect(await headOf(app, ownPath(STRANGER, 'movements'))).toEqual({ ...head, party_id: STRANGER });
    expect(await faultOf(app, `${V1}/movements`, { migration_id: 77 })).toBe('404 No updates applied in migration 77');
    expect(service.log).toEqual([]);
  });
});

const micros = (time: unknown): number => {
  const [, seconds = '', fraction = ''] = /^(.{19})\.?(\d*)Z$/.exec(String(time))!;
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
};
const units = (amount: unknown): bigint => BigInt(String(amount).replace('.', ''));

const LEDGER = `00:01 : +a alice 10
  00:02 : -a ; +b bob 4 ; +c alice 6
  00:12 : -c ; +d alice 6 locked
  00:15 : -b ; +e bob 3 ; +f carol 1`;

test('the pages of a question never show a later update, and are of their own directory', async () => {
  const lines = linesOf(parseLedger(LEDGER), 'scan');
  const more = '00:15 @s2 : +g alice 1\n00:16 : -d ; +h dave 6\n00:25 : +i dave 1';
  const dataDir = directory.at('data');
  await replayInto(dataDir, [directory.writeLines('feed', lines)], SMALL_EPOCHS);
  using service = openHoldings(dataDir);
  const { app } = service;
  const paths = [
    `${V1}/movements`,
    ...['asc', 'desc'].map((o) => `${ownPath(partyOf('alice'), 'movements')}?order=${o}`),
  ];
  const pageOf = async (path: string, given: Row) => {
    const [target = '', query] = path.split('?');
    const order = query?.split('=')[1] ?? null;
    return readTable(
      await (await askTable(app, target, { ...given, order: given.after === null ? order : null })).text(),
    );
  };
  const sealed = { migration_id: 0, to: '2025-02-12T00:10:00Z', limit: 1 };
  const fixedTexts = () =>
    Promise.all(paths.map(async (path) => (await askTable(app, path.split('?')[0]!, sealed)).text()));
  const fixed = await fixedTexts();
  const firsts = [];
  for (const path of paths)
    firsts.push([path, await pageOf(path, { limit: 1, after: null }), await pageOf(path, { after: null })] as const);
  await replayInto(
    dataDir,
    [directory.writeLines('more', [...lines, ...linesOf(parseLedger(more), 'scan')])],
    SMALL_EPOCHS,
  );
  // An immutable answer is the same after updates that it has not, the token in it too.
  expect(await fixedTexts()).toEqual(fixed);
  expect(readTable(fixed[0]!).next).not.toBeNull();
  for (const [path, first, all] of firsts) {
    const rest = await pageOf(path, { after: first.next });
    expect([...first.rows, ...rest.rows]).toEqual(all.rows);
    expect(rest.next).toBeNull();
    expect((await pageOf(path, { after: null })).rows.length).toBeGreaterThan(all.rows.length);
  }
  const other = directory.at('other');
  await replayInto(other, [directory.writeLines('feed', lines)], SMALL_EPOCHS);
  using another = openHoldings(other);
  expect(await faultOf(another.app, `${V1}/movements`, { after: firsts[0]![1].next })).toMatch(
    /^400 after: given a token of /,
  );
});

test('have what the ledger says of them, where it says something', async () => {
  const lines = linesOf(
    parseLedger(`00:01 : +a alice 10\n00:02 : -a ; +b bob 4 ; +c alice 6\n00:03 : -c ; +d alice 6 locked`),
    'scan',
  );
  const said = [eventLogs('alice a>b,c : -4 bob lunch'), eventLogs('alice c>d')];
  const feed = directory.writeLines('feed', [
    lines[0]!,
    ...lines.slice(1).map((line, i) => withEventLogs(line, said[i]!)),
  ]);
  await replayInto(directory.at('data'), [feed]);
  using service = openHoldings(directory.at('data'));
  const rows = await allRows(service.app, `${V1}/movements`, {});
  expect(rows.map(({ party_id, legs }) => [String(party_id).split('::')[0], legs])).toEqual([
    ['alice', []],
    ['alice', [{ side: 'sender', counterparty: partyOf('bob'), amount: '4.0000000000', reason: 'lunch' }]],
    ['bob', null],
    ['alice', null],
  ]);
});

test('without an update other than imports there are none', async () => {
  await replayInto(directory.at('data'), [
    directory.writeLines('feed', linesOf(parseLedger('import : +a alice 10'), 'scan')),
  ]);
  using service = openHoldings(directory.at('data'));
  for (const path of [`${V1}/movements`, ownPath(STRANGER, 'statement')]) {
    expect(await faultOf(service.app, path)).toBe('404 No updates applied');
    expect(await faultOf(service.app, path, { migration_id: 0 })).toBe('404 No updates applied in migration 0');
  }
});

describe('the story', async () => {
  const { app } = openHoldings(await makeDataDirectory([fixture('story.scan.ndjson')]));

  // From the text of fixtures/story.ts alone. Alice taps 500 at 00:03:10.123456, pays Bob 120.25 at 00:12, and 300 of what is left are
  // locked from 00:21 to 00:53. Bob has his smallest coin since 00:04, Carol 250 since 00:10, which is outside of a statement from 00:10.
  // At 00:58 Dave's 0.01 of 00:04 is swept up and Carol gets 0.0038051801: the supply loses the rest, 0.0061948199. Averages are sums of
  // total times seconds: of Alice (500 * 120 + 379.75 * 480) / 600 in the first 10 minutes; of Carol 250 + 0.0038051801 * 2 / 20 in those
  // of 00:58, rounded. The month begins a microsecond before 00:02, the first update, and ends with the last one, at 01:12.
  const cases = JSON.parse(readFileSync(fixture('story-statement.json'), 'utf8')) as {
    query: Row;
    statements: Record<keyof typeof PEOPLE, Row[]>;
  }[];
  it.each(cases)('has the statements worked out by hand: $query', async ({ query, statements }) => {
    for (const [name, rows] of Object.entries(statements))
      expect(await allRows(app, ownPath(PEOPLE[name as keyof typeof PEOPLE], 'statement'), query)).toEqual(rows);
  });

  it.each([
    [
      'movements',
      { from: '2025-02-12T02:00:00Z', to: '2025-02-12T01:00:00Z' },
      /^400 from: given .*, expected .*01:00:00Z$/,
    ],
    ['movements', { min: '-0.1' }, /^400 min: given "-0.1", expected a decimal .* not negative/],
    ['movements', { kind: 'in' }, /^400 kind: given "in", expected no such parameter/],
    [
      `owners/${STRANGER}/movements`,
      { kind: 'in,all' },
      /^400 kind: given "in,all", expected in or out or lock or unlock/,
    ],
    [
      `owners/${STRANGER}/statement`,
      { every: '500ms' },
      /^400 every: given 500ms, which makes more than 5000 periods, expected at least 1h$/,
    ],
    [`owners/${STRANGER}/statement`, { every: '2w' }, /^400 every: given "2w", expected 1w, 1mo, all or a duration/],
  ])('refuses %s of %j', async (path, given, message) => {
    expect(await faultOf(app, `${V1}/${path}`, given)).toMatch(message);
  });

  it('is empty out of its bounds, and whole between the years 1 and 9999', async () => {
    const whole = { from: '0001-01-01T00:00:00Z', to: '9999-12-31T23:59:59.999999Z' };
    for (const table of ['movements', 'statement'] as const) {
      const path = ownPath(PEOPLE.alice, table);
      expect(await allRows(app, path, whole)).toEqual(await allRows(app, path, {}));
      for (const range of [{ to: '0001-01-01T00:00:00Z' }, { from: '9999-12-31T23:59:59.999999Z' }])
        expect(await allRows(app, path, range)).toEqual([]);
    }
    const at = '2025-02-12T00:12:00Z';
    expect(await allRows(app, ownPath(PEOPLE.alice, 'statement'), { from: at, to: at })).toEqual([]);
    expect(await allRows(app, ownPath(PEOPLE.alice, 'movements'), { from: at, to: at })).toHaveLength(1);
  });
});

test('a migrated directory has them from that time on, in the interval that was open too', async () => {
  cpSync(fixture('views-12/story'), directory.at('data'), { recursive: true });
  migrate(directory.at('data'), { sliceRows: 5 });
  const story = buildStory();
  const next = buildMigration(story);
  const known = next.items.length;
  const { dave, carol } = PEOPLE;
  next.update('01:22:00', [
    { archives: 'dave 50' },
    { makes: 'dave 20', coin: { owner: dave, amount: '20', round: 103n } },
    { makes: 'carol 30', coin: { owner: carol, amount: '30', round: 103n } },
  ]);
  next.update('01:34:00', [{ archives: 'carol 30' }]);
  const lines = linesOf(next.items.slice(known), 'scan');
  expect(await replayInto(directory.at('data'), [directory.writeLines('more', lines)])).toMatchObject({ halted: null });
  using service = openHoldings(directory.at('data'));
  const { app } = service;
  const all = [...story.items, ...next.items];
  const histories = foldMovements(all, { periodMicros: TEN_MINUTES_US, cuts: [], knowsAll: true });
  for (const [migration_id, since] of ['2025-02-12T01:12:00.000001Z', '2025-02-12T01:21:00.000001Z'].entries()) {
    const history = histories.find(({ migrationId }) => migrationId === migration_id)!;
    const [from, before] = [micros(since), shortTime(micros(since) - 1)];
    for (const party of [...Object.values(PEOPLE), STRANGER]) {
      const own = history.updates.flat().filter((each) => each.party === party && each.countedAt >= from);
      expect(await allRows(app, ownPath(party, 'movements'), { migration_id, order: 'asc' })).toEqual(
        own.map(({ row }) => row),
      );
      const ends = from < history.appliedTo ? [history.appliedTo] : [];
      const statement = await allRows(app, ownPath(party, 'statement'), { migration_id, every: 'all' });
      expect(statement).toEqual(statementRows(history, { party, from, ends }));
    }
    for (const path of [`${V1}/movements`, `${V1}/snapshots`])
      expect(await headOf(app, path, { migration_id })).toMatchObject({ movements_since: since });
    for (const path of [`${V1}/movements`, ownPath(STRANGER, 'statement')])
      expect(await faultOf(app, path, { migration_id, from: before })).toBe(
        `404 from: given ${before}, expected a time from ${since} on: movements are kept from there on`,
      );
  }
});

test('a migration that begins with a snapshot import has them from its marker on, and what it brought as the opening', async () => {
  const lines = linesOf(parseLedger(`${LEDGER}\n00:21 :\n`), 'scan');
  const feed = seededFeed(lines, { recordTime: '2025-02-12T00:12:00.000000Z' });
  await replayInto(directory.at('data'), [directory.writeLines('feed', feed)]);
  using service = openHoldings(directory.at('data'));
  const [row] = await allRows(service.app, ownPath(partyOf('bob'), 'statement'), { every: 'all' });
  expect(row).toMatchObject({
    from: '2025-02-12T00:12:00Z',
    ...{ opening: plainDecimal(4n * 10n ** 10n), sent: plainDecimal(10n ** 10n), movements: 1 },
  });
  expect(await headOf(service.app, `${V1}/movements`)).toMatchObject({ movements_since: null });
  expect((await allRows(service.app, `${V1}/movements`, {})).map(({ party_id }) => party_id)).toEqual(
    ['bob', 'carol'].map(partyOf),
  );
});

import { cpSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { seededFeed } from '../../../demo/active-contracts.ts';
import { fixture } from '../../support/http/expected-answers.ts';
import { type HoldingsService, openHoldings, post } from '../../support/http/holdings-service.ts';
import { readCsv } from '../../support/http/read-csv.ts';
import { askTable, readTable } from '../../support/http/table-pages.ts';
import type { Micros } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { type OracleHistory, oracle } from '../../support/ledger/oracle.ts';
import { coinOf } from '../../support/ledger/oracle-answers.ts';
import { clockTime, parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { plainDecimal, shortTime } from '../../support/ledger/wire-text.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { migrate } from '../../support/views/migrating.ts';
import { linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../../support/views/replayed.ts';

const V1 = '/holdfast/v1';
const STRANGER = 'nobody::1220ee';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

type Row = Readonly<Record<string, unknown>>;
type Sums = Readonly<Record<'unlocked' | 'locked', bigint>>;
const balancePath = (party: string): string => `${V1}/owners/${encodeURIComponent(party)}`;

let feeds = 0;

async function replay(dataDir: string, lines: readonly string[], options: object = {}): Promise<void> {
  const feed = folder.writeLines(`feed-${feeds++}.ndjson`, lines);
  expect((await replayInto(dataDir, [feed], { ...SMALL_EPOCHS, ...options })).halted).toBeNull();
}

/** By the definition: what is active and counts then. */
function sumsAt({ moments }: OracleHistory, time: Micros, party: string): Sums & { coins: number } {
  const coins = moments.findLast(({ countedAt }) => countedAt <= time)!.coins.map(coinOf);
  const own = coins.filter(({ owner }) => owner === party);
  const sum = (isLocked: boolean): bigint =>
    own.reduce((sum, { amount, lock }) => ((lock !== null) === isLocked ? sum + amount : sum), 0n);
  return { unlocked: sum(false), locked: sum(true), coins: own.length };
}

const amountFields = ({ unlocked, locked }: Sums): Row => ({
  unlocked: plainDecimal(unlocked),
  locked: plainDecimal(locked),
  total: plainDecimal(unlocked + locked),
});

/** How many updates changed an owner's sums after one time, up to another. */
function movementsIn(history: OracleHistory, { after, to }: { after: Micros; to: Micros }, party: string): number {
  const sums = history.moments.map(({ countedAt, coins }) => {
    const { unlocked, locked } = sumsAt({ ...history, moments: [{ countedAt, coins }] }, countedAt, party);
    return { countedAt, text: `${unlocked} ${locked}` };
  });
  return sums.filter(
    ({ countedAt, text }, i) => i > 0 && countedAt > after && countedAt <= to && text !== sums[i - 1]!.text,
  ).length;
}

function balanceOf(history: OracleHistory, party: string, asked: Micros | null): Row {
  const { migrationId, sealed, appliedTo } = history;
  const at = asked ?? appliedTo;
  const { coins, ...sums } = sumsAt(history, at, party);
  const snapshot = sealed.findLast((time) => time <= at) ?? null;
  return {
    party_id: party,
    migration_id: migrationId,
    at: shortTime(at),
    applied_to: shortTime(appliedTo),
    ...amountFields(sums),
    contracts: asked === null || snapshot === at ? coins : null,
    snapshot: snapshot === null ? null : shortTime(snapshot),
    movements_since_snapshot: movementsIn(history, { after: snapshot ?? 0, to: at }, party),
  };
}

describe.each(Array.from({ length: soakCount(2) }, (_, at) => at + 1))('balances of random ledger %i', async (seed) => {
  const random = createRandom(seed);
  // Only format B has repairs and checkpoints, and only format A several migrations.
  const isScan = seed % 2 === 0;
  const shape = isScan ? { migrations: 2, shares: { checkpoint: 0 } } : { shares: { repair: 0.3, checkpoint: 0.1 } };
  const items = [...randomLedger(oddLedger(seed, { carriedOver: 15, updates: 200, ...shape }))];
  const cuts = Array.from({ length: 4 }, () => 1 + random.below(items.length)).sort((a, b) => a - b);
  const dataDir = folder.at(`random-${seed}`);
  const form = isScan
    ? ({ format: 'scan' } as const)
    : ({ format: 'ledger-api', migrationId: items[0]!.migrationId } as const);
  const { format, ...options } = { migrationId: null, ...form };
  for (const cut of cuts) await replay(dataDir, linesOf(items.slice(0, cut), format), { ...options, seal: true });
  await replay(dataDir, linesOf(items, format), options);
  const { app, ...service } = openHoldings(dataDir);
  afterAll(() => service[Symbol.dispose]());
  const { histories } = oracle(items, { periodMicros: TEN_MINUTES_US, cuts });
  const owners = [
    ...new Set(
      histories.flatMap((each) => each.moments.flatMap(({ coins }) => coins.map((coin) => coinOf(coin).owner))),
    ),
  ];

  /** Where answers turn. */
  const someTime = ({ moments, sealed, appliedTo }: OracleHistory): Micros => {
    const [begin, turn] = [
      moments[0]!.countedAt,
      random.pick([random.pick(moments).countedAt, random.pick(sealed), appliedTo]),
    ];
    return Math.min(appliedTo, Math.max(begin, turn + random.pick([-1, 0, 0, 1])));
  };

  test.each(histories)(
    'of one owner in migration $migrationId are those of the definition at any time',
    async (history) => {
      const { migrationId, moments, appliedTo, sealed } = history;
      const times = [null, moments[0]!.countedAt, appliedTo, ...Array.from({ length: 60 }, () => someTime(history))];
      for (const at of times) {
        const party = random.pick([...owners, STRANGER]);
        const given = { migration_id: migrationId, at: at === null ? null : shortTime(at) };
        const response = await askTable(app, balancePath(party), given);
        const body = JSON.parse(await response.text()) as Row;
        expect(Object.entries(body), JSON.stringify(given)).toEqual(Object.entries(balanceOf(history, party, at)));
        const isFixed = at !== null && at <= (sealed.at(-1) ?? 0);
        expect(response.headers.get('cache-control')).toBe(
          isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
      }
      for (const [at, bound] of [
        [moments[0]!.countedAt - 1, `at or after ${shortTime(moments[0]!.countedAt)}`],
        [appliedTo + 1, `at or before ${shortTime(appliedTo)}`],
      ] as const) {
        const wanted = `at: given ${shortTime(at)}, expected a time ${bound}: migration ${migrationId}`;
        const one = await askTable(app, balancePath(STRANGER), { migration_id: migrationId, at: shortTime(at) });
        const many = await post(app, `${V1}/balances`, {
          migration_id: migrationId,
          at: [shortTime(appliedTo), shortTime(at)],
          owners,
        });
        for (const response of [one, many])
          expect([response.status, await response.text()]).toEqual([404, expect.stringContaining(wanted)]);
      }
    },
  );

  test.each(histories)(
    'of many in migration $migrationId are the same, in the order asked, each once',
    async (history) => {
      const { migrationId } = history;
      const times = [...new Set(Array.from({ length: 40 }, () => someTime(history)))];
      const rows = times.flatMap((time) =>
        [...owners, STRANGER].map((party_id) => {
          const { coins, ...sums } = sumsAt(history, time, party_id);
          return { at: shortTime(time), party_id, ...amountFields(sums) };
        }),
      );
      // The same time in another zone is asked once.
      const at = [
        ...times.map(shortTime),
        ...times.map((time) => shortTime(time + 3_600_000_000).replace('Z', '+01:00')),
      ];
      const asked = { migration_id: migrationId, at, owners: [...owners, STRANGER, owners[0]] };
      const json = await post(app, `${V1}/balances`, asked);
      expect(await json.json()).toEqual({ migration_id: migrationId, balances: rows });
      expect(json.headers.get('cache-control')).toBe('no-store');
      const csv = await post(app, `${V1}/balances`, asked, { accept: 'text/csv' });
      expect(csv.headers.get('content-disposition')).toBe('attachment; filename="holdfast-balances.csv"');
      expect(readCsv(await csv.text()).rows).toEqual(rows);
    },
  );
});

test('a migration that began with the active contracts of a node has balances from then on', async () => {
  const lines = linesOf(parseLedger('00:01 : +a alice 1\n00:11 : +b alice 2 locked\n00:21 : -a\n00:22 :'), 'scan');
  await replay(folder.at('seeded'), seededFeed(lines, { recordTime: '2025-02-12T00:15:00.000000Z' }));
  using service = openHoldings(folder.at('seeded'));
  const ask = (clock: string): Promise<Response> =>
    askTable(service.app, balancePath(partyOf('alice')), { at: shortTime(clockTime(clock)) });
  expect(await (await ask('00:15')).json()).toMatchObject({ total: '3.0000000000', snapshot: null });
  const later = { locked: '2.0000000000', unlocked: '0.0000000000', movements_since_snapshot: 1 };
  expect(await (await ask('00:21:30')).json()).toMatchObject(later);
  expect(await (await ask('00:14:59.999999')).text()).toContain(
    'at or after 2025-02-12T00:15:00Z: migration 0 begins there',
  );
});

describe('an answer in several parts', async () => {
  const dataDir = folder.at('parts');
  const ledger = '00:01 @s2 : +a alice 1\n00:31 : +b bob 2\n00:32 : -b ; +c bob 3 locked\n';
  await replay(dataDir, linesOf(parseLedger(ledger), 'scan'));
  const { app, ...service } = openHoldings(dataDir);
  afterAll(() => service[Symbol.dispose]());
  const owners = ['alice', 'bob'].map(partyOf);
  const parties = [...owners, ...Array.from({ length: 998 }, (_, at) => `nobody-${at}::1220ee`)];
  const at = [
    ...Array.from({ length: 99 }, (_, minute) => clockTime('00:02') + minute * 10_000_000),
    clockTime('00:32'),
  ];
  const asked = { at: at.map(shortTime), owners: parties };

  test('has all of its 100,000 rows, and none of the updates after it was asked for', async () => {
    const reader = (await post(app, `${V1}/balances`, asked)).body!.getReader();
    const texts = [(await reader.read()).value!];
    expect(texts[0]!.length).toBeLessThan(2_000_000);
    // It counts at the last time that was asked about, and seals the interval.
    await replay(dataDir, linesOf(parseLedger(`${ledger}00:31:50 @s2 : +d alice 7\n00:41 : +e bob 1`), 'scan'));
    for (let next = await reader.read(); !next.done; next = await reader.read()) texts.push(next.value);
    expect(texts).toHaveLength(20);
    const has = (time: Micros, party: string): Row => {
      if (party === owners[0]) return amountFields({ unlocked: 10_000_000_000n, locked: 0n });
      const [is, was] = [party === owners[1] && time >= clockTime('00:31'), time < clockTime('00:32')];
      return amountFields({ unlocked: is && was ? 20_000_000_000n : 0n, locked: is && !was ? 30_000_000_000n : 0n });
    };
    const rows = at.flatMap((time) =>
      parties.map((party_id) => ({ at: shortTime(time), party_id, ...has(time, party_id) })),
    );
    expect(Buffer.concat(texts).toString()).toBe(JSON.stringify({ migration_id: 0, balances: rows }));
  });

  test('has the same rows in CSV, below one header', async () => {
    const few = { ...asked, at: asked.at.slice(-12) };
    const json = await post(app, `${V1}/balances`, few);
    const { balances } = (await json.json()) as { balances: Row[] };
    expect(balances.find(({ party_id, at }) => party_id === owners[0] && at === few.at.at(-1))?.total).toBe(
      '8.0000000000',
    );
    const csv = await post(app, `${V1}/balances?format=csv`, few);
    expect(readCsv(await csv.text()).rows).toEqual(balances);
  });

  test('is broken off where it cannot be read on, which the log says', async () => {
    const other = openHoldings(dataDir);
    const reader = (await post(other.app, `${V1}/balances`, asked)).body!.getReader();
    await reader.read();
    other[Symbol.dispose]();
    await expect(reader.read()).rejects.toThrow('not open');
    expect(other.log.join()).toContain('an answer in parts was broken off');
  });
});

describe('a directory of schema 12', async () => {
  const [old, fresh] = [folder.at('old'), folder.at('fresh')];
  cpSync(fixture('views-12/story'), old, { recursive: true });
  migrate(old, { sliceRows: 1_000 });
  const feeds = ['story.scan.ndjson', 'story-migration.scan.ndjson'].map(fixture);
  await replayInto(fresh, feeds, SMALL_EPOCHS);
  const ask = async (service: HoldingsService, target: string): Promise<Row> =>
    JSON.parse(await (await service.app.request(`${V1}/${target}`)).text());
  using migrated = openHoldings(old);
  const { dso } = await ask(migrated, 'snapshots');
  const owners = readTable(await (await migrated.app.request(`${V1}/owners?limit=1000&migration_id=1`)).text()).rows;
  const since = await ask(migrated, `owners/${owners[0]!.party_id}`);
  // It reads on after the migration.
  const more = linesOf(
    parseLedger('03:01 m1 =n1 : +n1 alice 5\n03:02 m1 =n2 : -n1 ; +n2 alice 4 ; +n3 bob 1\n03:21 m1 =n3 :'),
    'scan',
  );
  const lines = more.map((line) => line.replaceAll(partyOf('DSO'), String(dso)));
  for (const dataDir of [old, fresh]) await replay(dataDir, lines);
  const parties = [...owners.map(({ party_id }) => String(party_id)), ...['alice', 'bob'].map(partyOf)];

  test('answers at snapshots, and at any time from its migration on, as a replay does', async () => {
    using read = openHoldings(old);
    using replayed = openHoldings(fresh);
    const { snapshots } = (await ask(replayed, 'snapshots?limit=1000&migration_id=1')) as { snapshots: Row[] };
    const times = snapshots.map(({ record_time }) => String(record_time));
    const kept = shortTime(Date.parse(String(since.applied_to)) * 1000 + 1);
    const at = [...times, kept, ...['03:01', '03:01:30', '03:02', '03:21'].map((clock) => shortTime(clockTime(clock)))];
    for (const migration_id of [1, null]) {
      const asked = { migration_id, at, owners: parties };
      const wanted = await (await post(replayed.app, `${V1}/balances`, asked)).text();
      expect(wanted).toContain('"total":"4.0000000000"');
      expect(await (await post(read.app, `${V1}/balances`, asked)).text()).toBe(wanted);
    }
    for (const time of [...at.filter((each) => each !== kept).map((each) => `?at=${each}`), '']) {
      const target = `owners/${partyOf('alice')}${time}`;
      expect(await ask(read, target)).toEqual(await ask(replayed, target));
    }
  });

  test('has no balance between the snapshots before, and says from when on', async () => {
    using read = openHoldings(old);
    const kept = shortTime(Date.parse(String(since.applied_to)) * 1000 + 1);
    for (const at of [since.applied_to, '2025-02-12T01:15:00Z']) {
      const wanted = `at: given ${at}, expected a time from ${kept} on: movements are kept from there on`;
      for (const response of [
        await askTable(read.app, balancePath(parties[0]!), { migration_id: 1, at }),
        await post(read.app, `${V1}/balances`, { migration_id: 1, at: [at], owners: parties }),
      ])
        expect([response.status, await response.json()]).toEqual([404, { error: wanted, code: 'missing' }]);
    }
    expect(await ask(read, `owners/${parties[0]}?at=${kept}`)).toMatchObject({ movements_since_snapshot: null });
  });
});

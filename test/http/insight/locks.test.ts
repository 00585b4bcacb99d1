import { cpSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { fixture } from '../../support/http/expected-answers.ts';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { allRows, askTable, readTable } from '../../support/http/table-pages.ts';
import { type HistoryItem, inOrder, type Lock } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { type OracleSnapshot, oracle } from '../../support/ledger/oracle.ts';
import { coinOf, ownersOf } from '../../support/ledger/oracle-answers.ts';
import { createRandom, type Random } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { plainDecimal, shortTime } from '../../support/ledger/wire-text.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { migrate } from '../../support/views/migrating.ts';
import { linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../../support/views/replayed.ts';

const DAY_US = 86_400_000_000;
const LAST_TIME = '9999-12-31T23:59:59.999999Z';
const STRANGER = 'nobody::1220ee';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const locksPath = (party: string): string => `/holdfast/v1/owners/${encodeURIComponent(party)}/locks`;

type Row = Readonly<Record<string, unknown>>;

/** What a snapshot has of an owner's locks, worked out by the definition. */
function locksIn(snapshot: OracleSnapshot, party: string): { unlocking: Row; rows: readonly Row[] } {
  const { recordTime } = snapshot;
  const coins = snapshot.coins.filter((coin) => coinOf(coin).owner === party && coinOf(coin).lock !== null);
  const locks = coins.map((coin) => {
    const { amount, unknown } = coinOf(coin);
    const { lock = coinOf(coin).lock } = unknown as {
      lock?: Partial<Omit<Lock, 'expiresAt'>> & { expiresAt?: unknown };
    };
    const { holders, context = null, expiresAt } = lock!;
    const last = expiresAt === LAST_TIME;
    const time = typeof expiresAt === 'number' ? expiresAt : Infinity;
    const { contractId, createdAt } = coin.contract;
    return {
      amount,
      time: last ? Number.MAX_VALUE : time,
      row: {
        contract_id: contractId,
        amount: plainDecimal(amount),
        expires_at: last ? LAST_TIME : time === Infinity ? null : shortTime(time),
        holders,
        context,
        created_at: shortTime(createdAt),
        expired: time <= recordTime,
      },
    };
  });
  const within = (days: number): string => {
    const soon = locks.filter(({ time }) => time > recordTime && time <= recordTime + days * DAY_US);
    return plainDecimal(soon.reduce((sum, { amount }) => sum + amount, 0n));
  };
  const bytes = (row: Row): Buffer => Buffer.from(String(row.contract_id));
  locks.sort((a, b) => (a.time === b.time ? Buffer.compare(bytes(a.row), bytes(b.row)) : a.time - b.time));
  return { unlocking: { '1d': within(1), '7d': within(7), '30d': within(30) }, rows: locks.map(({ row }) => row) };
}

/** Gives locks ends around times where answers turn, or none. */
function varyLocks(items: readonly HistoryItem[], random: Random): void {
  const contracts = items.flatMap((item) => (item.kind === 'update' ? [...inOrder(item.events)] : []));
  for (const contract of new Set(contracts.map((event) => event.contract))) {
    const { payload, createdAt } = contract;
    if (payload.kind !== 'coin' || payload.lock === null) continue;
    const { holders } = payload.lock;
    const unknown = random.pick<object>([
      {},
      {},
      {},
      { lock: { holders } },
      { lock: { holders, expiresAt: LAST_TIME } },
    ]);
    const snapshot = (Math.floor(createdAt / TEN_MINUTES_US) + random.below(8)) * TEN_MINUTES_US;
    const expiresAt = snapshot + random.pick([0, 1, 7, 30]) * DAY_US + random.pick([-1, 0, 0, 1]);
    Object.assign(payload, { lock: { ...payload.lock, expiresAt }, unknown: { ...payload.unknown, ...unknown } });
  }
}

describe.each(Array.from({ length: soakCount(2) }, (_, at) => at + 1))(
  'the locks of random ledger %i',
  async (seed) => {
    const random = createRandom(seed);
    const options = {
      migrations: 2,
      carriedOver: 15,
      updates: 250,
      activeTarget: 120,
      shares: { lock: 0.5, whale: 0.6 },
    };
    const items = [...randomLedger(oddLedger(seed, options))];
    varyLocks(items, random);
    const dataDir = folder.at(`random-${seed}`);
    const feed = folder.writeLines(`${seed}.ndjson`, linesOf(items, 'scan'));
    expect((await replayInto(dataDir, [feed], SMALL_EPOCHS)).halted).toBeNull();
    const { app, ...service } = openHoldings(dataDir);
    afterAll(() => service[Symbol.dispose]());
    const { snapshots } = oracle(items, { periodMicros: TEN_MINUTES_US });

    test('are those of the definition at any snapshot, in order, page by page, and as sums', async () => {
      const seen: Row[] = [];
      for (const snapshot of [snapshots.at(-1)!, ...Array.from({ length: 8 }, () => random.pick(snapshots))])
        for (const party of [...ownersOf(snapshot), STRANGER]) {
          const { migrationId, recordTime } = snapshot;
          const record_time = shortTime(recordTime + random.pick([0, 1]));
          const given = { migration_id: migrationId, record_time, limit: random.pick([1, 2, 3, 1000]) };
          const { unlocking, rows } = locksIn(snapshot, party);
          expect(await allRows(app, locksPath(party), given)).toEqual(rows);
          const answer = readTable(await (await askTable(app, locksPath(party), given)).text());
          const head = { record_time: shortTime(recordTime), migration_id: migrationId, party_id: party, unlocking };
          expect(Object.entries(answer.head)).toEqual(Object.entries(head));
          seen.push(...rows);
        }
      for (const wanted of [{ expired: true }, { expired: false }, { expires_at: null }, { expires_at: LAST_TIME }])
        expect(seen).toContainEqual(expect.objectContaining(wanted));
    });
  },
);

test('a directory of schema 12 has the locks of a replay', async () => {
  const [old, fresh] = [folder.at('old'), folder.at('fresh')];
  cpSync(fixture('views-12/random'), old, { recursive: true });
  migrate(old, { sliceRows: 1_000 });
  await replayInto(fresh, [fixture('views-12/random.scan.ndjson.gz')], SMALL_EPOCHS);
  using migrated = openHoldings(old);
  using replayed = openHoldings(fresh);
  const times = readTable(await (await replayed.app.request('/holdfast/v1/snapshots?limit=1000')).text()).rows;
  const owners = readTable(await (await replayed.app.request('/holdfast/v1/owners?limit=1000')).text()).rows;
  let locks = 0;
  for (const { record_time } of times.filter((_, at) => at % 7 === 0))
    for (const { party_id } of owners) {
      const target = `${locksPath(String(party_id))}?record_time=${record_time}&limit=1000`;
      const wanted = await (await replayed.app.request(target)).text();
      expect(await (await migrated.app.request(target)).text()).toBe(wanted);
      locks += readTable(wanted).rows.length;
    }
  expect(locks).toBeGreaterThan(10);
});

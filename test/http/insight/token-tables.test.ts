import type { Hono } from 'hono';
import { afterAll, describe, expect, test } from 'vitest';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { allRows, askTable, type Row, readTable } from '../../support/http/table-pages.ts';
import { type HistoryItem, importsOfOne } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { oracle } from '../../support/ledger/oracle.ts';
import { ownersOf } from '../../support/ledger/oracle-answers.ts';
import type { Instrument } from '../../support/ledger/oracle-holdings.ts';
import { instrumentsOf } from '../../support/ledger/oracle-holdings.ts';
import { foldMovements, type MovementHistory, statementRows } from '../../support/ledger/oracle-movements.ts';
import {
  changeRows,
  type FoldedSnapshot,
  instrumentRows,
  ownerRows,
  ownInstrumentRows,
  pointRows,
  rankedRows,
} from '../../support/ledger/oracle-tables.ts';
import { createRandom } from '../../support/ledger/random.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { plainDecimal, shortTime } from '../../support/ledger/wire-text.ts';
import { soakCount } from '../../support/program/soak.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { TEN_MINUTES_US } from '../../support/views/replayed.ts';
import { replayWithForced } from '../../support/views/table-views.ts';

const V1 = '/holdfast/v1';
const STRANGER = 'nobody::1220ee';
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

const seeds = Array.from({ length: soakCount(2) }, (_, seed) => seed + 1);
const FORMATS = ['participant', 'ledger-api', 'acs-delta'] as const;

const ownPath = (party: string, table: string): string => `${V1}/owners/${encodeURIComponent(party)}/${table}`;

async function headOf(app: Hono, path: string, given: Row = {}): Promise<Row> {
  return readTable(await (await askTable(app, path, given)).text()).head;
}

describe.each(seeds)('the tokens of random ledger %i', async (seed) => {
  const format = FORMATS[seed % 3]!;
  const random = createRandom(seed);
  const shares = { token: 0.7, repair: 0.1 };
  const changes = { updates: 250, synchronizers: 1 + (seed % 3), carriedOver: 30, importCreatesMax: 3, shares };
  const drawn = [...randomLedger(oddLedger(seed + 500, changes))];
  const items: HistoryItem[] = format === 'participant' ? drawn.flatMap((item) => importsOfOne(item)) : drawn;
  const cuts = Array.from({ length: 3 }, () => 1 + random.below(items.length)).sort((a, b) => a - b);
  const whole = oracle(items, { periodMicros: TEN_MINUTES_US });
  const followed = seed % 2 === 1 ? null : [...new Set(whole.snapshots.flatMap(ownersOf))].filter((_, i) => i % 3 > 0);
  const { dataDir, snapshotsOf, told } = await replayWithForced(folder, items, cuts, format, followed);
  const { app, ...service } = openHoldings(dataDir);
  afterAll(() => service[Symbol.dispose]());

  const instruments = instrumentsOf(told.snapshots);
  const migration_id = items[0]!.migrationId;
  const someLimit = (): number => random.pick([1, 2, 7, 100, 1000]);
  const asked = ({ admin, instrument }: Instrument): Row => ({
    migration_id,
    instrument_admin: admin,
    instrument_id: instrument,
  });
  /** Around a snapshot, where answers turn. */
  const someTime = (of: readonly { readonly recordTime: number }[]): number =>
    random.pick(of).recordTime + random.pick([-1, 0, 1, 77_777_777]);

  test('are of several instruments', () => {
    expect(instruments.length).toBeGreaterThan(5);
  });

  test.each(instruments)('owners, the largest of them, their history and changes: $instrument', async (instrument) => {
    const snapshots = snapshotsOf(instrument);
    // Of another owner nothing may be asked where some are followed.
    const strangers = followed === null ? [STRANGER] : [];
    const owners = [...new Set(snapshots.flatMap((each) => [...each.owners.keys()])), ...strangers];
    const given = asked(instrument);
    for (let i = 0; i < 3; i++) {
      const time = Math.max(someTime(snapshots), snapshots[0]!.recordTime);
      const until = snapshots.filter(({ recordTime }) => recordTime <= time);
      const at = { ...given, record_time: shortTime(time) };
      expect(await allRows(app, `${V1}/owners`, { ...at, limit: someLimit() })).toEqual(ownerRows(until, ''));
      const newest = until.at(-1)!;
      for (const by of ['total', 'unlocked', 'locked'] as const)
        expect(await allRows(app, `${V1}/top`, { ...at, by, limit: someLimit() })).toEqual(rankedRows(newest, by));
      const totals = { owners_total: newest.owners.size, total: totalOf(newest) };
      expect(await headOf(app, `${V1}/top`, at)).toMatchObject(totals);
    }
    for (const party of owners) {
      const points = await allRows(app, ownPath(party, 'history'), { ...given, every: '10m' });
      expect(points).toEqual(pointRows(snapshots, party, TEN_MINUTES_US));
      const rows = await allRows(app, ownPath(party, 'changes'), { ...given, order: 'asc', limit: someLimit() });
      const grid = snapshots.filter(({ forced }) => !forced);
      expect(rows).toEqual(changeRows(grid, party));
    }
  });

  test.each(instruments)('movements and statements: $instrument', async (instrument) => {
    const options = { periodMicros: TEN_MINUTES_US, cuts, knowsAll: false, showsViews: () => true };
    const isFollowed = followed !== null && { followed: new Set(followed) };
    const histories = foldMovements(items, { ...options, ...isFollowed, instrument });
    expect(histories).toHaveLength(1);
    const [history] = histories as [MovementHistory];
    const { begin, appliedTo } = history;
    const movements = history.updates.flat();
    const given = asked(instrument);
    const all = history.updates
      .toReversed()
      .flat()
      .map(({ party, row }) => ({ party_id: party, ...row }));
    expect(await allRows(app, `${V1}/movements`, { ...given, limit: someLimit() })).toEqual(all);
    for (const party of new Set(movements.flatMap(({ party }) => party ?? []))) {
      const own = movements.filter((each) => each.party === party).map(({ row }) => row);
      const path = ownPath(party, 'movements');
      expect(await allRows(app, path, { ...given, order: 'asc', limit: someLimit() })).toEqual(own);
      for (const [every, minutes] of [
        ['1h', 60],
        ['all', Infinity],
      ] as const) {
        const step = minutes * 60_000_000;
        const ends = [appliedTo];
        for (let end = Math.floor((appliedTo - 1) / step) * step; end > begin; end -= step) ends.unshift(end);
        const rows = await allRows(app, ownPath(party, 'statement'), { ...given, every });
        expect(rows).toEqual(statementRows(history, { party, from: begin, ends }));
      }
    }
  });

  test('each instrument, and those of each owner', async () => {
    const all = told.snapshots.map((snapshot) => ({ snapshot, forced: false }));
    for (let i = 0; i < 4; i++) {
      const time = Math.max(someTime(told.snapshots), told.snapshots[0]!.recordTime);
      const until = all.filter(({ snapshot }) => snapshot.recordTime <= time);
      const at = { migration_id, record_time: shortTime(until.at(-1)!.snapshot.recordTime) };
      const rows = await allRows(app, `${V1}/instruments`, { ...at, limit: someLimit() });
      expect(withoutCoin(rows, told.dso)).toEqual(instrumentRows(until));
      const owners = until.at(-1)!.snapshot.tokens.flatMap(({ owner }) => owner ?? []);
      for (const party of new Set([...owners, ...(followed === null ? [STRANGER] : [])])) {
        const own = await allRows(app, ownPath(party, 'instruments'), { ...at, limit: someLimit() });
        const wanted = ownInstrumentRows(until, party);
        const shown = withoutCoin(own, told.dso).map(({ accounts_total, accounts, ...row }) => {
          expect(accounts_total).toBe((accounts as Row[]).length);
          return { ...row, accounts: (accounts as Row[]).filter(hasAny) };
        });
        expect(shown.map(withoutEmpty)).toEqual(wanted.map(withoutEmpty));
      }
    }
  });

  test('the digests, and what cannot be read', async () => {
    const snapshots = await allRows(app, `${V1}/snapshots`, { migration_id, order: 'asc', every: '10m' });
    const digests = ({ tokensChangesDigest, tokensDigest }: (typeof told.snapshots)[number]): Row => ({
      tokens_changes_digest: tokensChangesDigest,
      tokens_digest: tokensDigest,
    });
    expect(
      snapshots.map(({ tokens_changes_digest, tokens_digest }) => ({ tokens_changes_digest, tokens_digest })),
    ).toEqual(told.snapshots.map(digests));
    const unreadable = await allRows(app, `${V1}/unreadable`, { migration_id, limit: someLimit() });
    const wanted = told.unreadable.get(migration_id)!.map(({ contractId, signatories, observers, templateId }) => {
      return {
        contract_id: contractId,
        template_id: templateId,
        stakeholders: [...new Set([...signatories, ...observers])].sort(),
      };
    });
    wanted.sort((a, b) => Buffer.compare(Buffer.from(a.contract_id), Buffer.from(b.contract_id)));
    expect(unreadable.map(({ reason, ...row }) => row)).toEqual(wanted);
    for (const { reason } of unreadable) expect(reason).toMatch(/./);
    expect(service.log).toEqual([]);
  });
});

const totalOf = ({ supply }: FoldedSnapshot): string => plainDecimal(supply.unlocked + supply.locked);

/** An account that has nothing any more may be listed. */
const hasAny = ({ unlocked, locked }: Row): boolean => Number(unlocked) + Number(locked) !== 0;

function withoutEmpty({ accounts, ...row }: Row): Row {
  return { ...row, accounts: (accounts as Row[]).filter(hasAny) };
}

function withoutCoin(rows: readonly Row[], dso: string): readonly Row[] {
  return rows.filter(({ admin, id }) => admin !== dso || id !== 'Amulet');
}

import type { Hono } from 'hono';
import { expect, it } from 'vitest';
import { openHoldings } from '../../support/http/holdings-service.ts';
import { allRows, type Row } from '../../support/http/table-pages.ts';
import { type Contract, type HistoryEvent, type HistoryItem, isOurs } from '../../support/ledger/history.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { type Oracle, oracle } from '../../support/ledger/oracle.ts';
import { ownersOf } from '../../support/ledger/oracle-answers.ts';
import { parseLedger } from '../../support/ledger/parse-ledger.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { shortTime } from '../../support/ledger/wire-text.ts';
import { coinViews } from '../../support/ledger/wire-views.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { soakCount } from '../../support/program/soak.ts';
import { linesOf, replayInto, SMALL_EPOCHS, TEN_MINUTES_US } from '../../support/views/replayed.ts';

const V1 = '/holdfast/v1';
const directory = freshDirectory();
const seeds = Array.from({ length: soakCount(2) }, (_, seed) => seed);

function ledgerOf(seed: number): HistoryItem[] {
  const imports = { carriedOver: 30, importCreatesMax: 4, synchronizers: 1 + (seed % 3) };
  const shares = { token: 0.5, repair: 0.1 };
  return [...randomLedger(oddLedger(seed + 700, { updates: 200, ...imports, shares }))];
}

/** The same updates with other events, of which a reassignment must keep its own. */
function withEvents(
  items: readonly HistoryItem[],
  change: (event: HistoryEvent) => readonly HistoryEvent[],
): HistoryItem[] {
  const changed = (events: readonly HistoryEvent[]): HistoryEvent[] =>
    events.flatMap(change).map((event) => {
      return event.kind === 'create' ? event : { ...event, children: changed(event.children) };
    });
  return items.map((item) => {
    if (item.kind !== 'update') return item;
    const events = changed(item.events);
    // The time of a reassignment counts all the same.
    return { ...item, ...(events.length === 0 && { wrapping: 'transaction' as const }), events };
  });
}

/** The children of an event that is left out stand in its place. */
const withoutTokens = (event: HistoryEvent): readonly HistoryEvent[] => {
  const { views, ...contract } = event.contract;
  const isToken = views !== undefined && !isOurs(event.contract);
  if (!isToken) return [{ ...event, contract }];
  return event.kind === 'create' ? [] : event.children.flatMap(withoutTokens);
};

/** Coins and rounds of a package that is not ours: coins count by their views alone, rounds not at all. */
const throughViews = (event: HistoryEvent): readonly HistoryEvent[] => {
  const { contract } = event;
  if (!isOurs(contract)) return [event];
  const views = contract.payload.kind === 'coin' ? coinViews(contract.payload) : [];
  return [{ ...event, contract: { ...contract, packageName: 'another-amulet', views } }];
};

async function replayed(name: string, items: readonly HistoryItem[]): Promise<string> {
  const feed = directory.writeLines(`${name}.ndjson`, linesOf(items, 'ledger-api'));
  const options = { migrationId: items[0]!.migrationId, ...SMALL_EPOCHS };
  expect((await replayInto(directory.at(name), [feed], options)).halted).toBeNull();
  return directory.at(name);
}

/** Every table that has an instrument, of every snapshot and owner. */
async function tablesOf(app: Hono, { snapshots }: Oracle, instrument: Row): Promise<Row> {
  const answers: Record<string, readonly Row[]> = {};
  const owners = [...new Set(snapshots.flatMap(ownersOf))];
  const ask = async (path: string, given: Row = {}): Promise<void> => {
    const rows = await allRows(app, `${V1}/${path}`, { ...given, ...instrument });
    answers[`${path} ${JSON.stringify(given)}`] = rows;
  };
  for (const { recordTime } of snapshots) {
    await ask('owners', { record_time: shortTime(recordTime), limit: 1000 });
    for (const by of ['total', 'unlocked', 'locked'])
      await ask('top', { record_time: shortTime(recordTime), by, limit: 1000 });
  }
  await ask('movements', { limit: 1000 });
  for (const party of owners) {
    const own = `owners/${encodeURIComponent(party)}`;
    await ask(`${own}/history`, { every: '10m' });
    await ask(`${own}/changes`, { limit: 1000 });
    await ask(`${own}/movements`, { limit: 1000 });
    await ask(`${own}/statement`, { every: '1h' });
  }
  return answers;
}

/** Movements of an instrument name the accounts, of which the coin has none. */
function withoutAccounts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || !('account_id' in each)) return each;
    const { provider, account_id, ...row } = each as Row;
    expect([provider, account_id]).toEqual([null, '']);
    return row;
  });
}

it.each(seeds)('the coin through its views is the coin through its arguments (%i)', async (seed) => {
  const items = withEvents(ledgerOf(seed), withoutTokens);
  const told = oracle(items, { periodMicros: TEN_MINUTES_US });
  using coins = openHoldings(await replayed('coins', items));
  using views = openHoldings(await replayed('views', withEvents(items, throughViews)));
  const byArguments = await tablesOf(coins.app, told, {});
  const byViews = await tablesOf(views.app, told, { instrument_admin: told.dso, instrument_id: 'Amulet' });
  expect(Object.keys(byArguments).length).toBeGreaterThan(100);
  expect(withoutAccounts(byViews)).toEqual(byArguments);
});

it.each(seeds)('tokens in the feed change no answer about the coin, and no digest (%i)', async (seed) => {
  const items = ledgerOf(seed);
  const plain = withEvents(items, withoutTokens);
  const told = oracle(plain, { periodMicros: TEN_MINUTES_US });
  const answers = [];
  for (const [name, ledger] of Object.entries({ plain, items })) {
    using service = openHoldings(await replayed(name, ledger));
    const snapshots = await allRows(service.app, `${V1}/snapshots`, { limit: 1000 });
    const without = snapshots.map(({ tokens_changes_digest, tokens_digest, ...row }) => row);
    const state = await stateOf(service.app, told);
    // In full, the coin's instrument is the same question.
    const amulet = { instrument_admin: told.dso, instrument_id: 'Amulet' };
    const tables = await tablesOf(service.app, told, {});
    if (name === 'items') expect(withoutAccounts(await tablesOf(service.app, told, amulet))).toEqual(tables);
    answers.push({ snapshots: without, tables, ...state });
  }
  expect(answers[1]).toEqual(answers[0]);
});

async function stateOf(app: Hono, { snapshots }: Oracle): Promise<Row> {
  const newest = snapshots.at(-1)!;
  const asked = {
    migration_id: newest.migrationId,
    record_time: shortTime(newest.recordTime),
    record_time_match: 'exact',
    owner_party_ids: ownersOf(newest),
  };
  const post = async (path: string, body: Row): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const response = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  return {
    summaryV0: await post('/v0/holdings/summary', { ...asked, as_of_round: 20_000 }),
    summaryV1: await post('/v1/holdings/summary', asked),
    stateV0: await post('/v0/holdings/state', { ...asked, page_size: 1000 }),
    stateV1: await post('/v1/holdings/state', { ...asked, page_size: 1000 }),
  };
}

// Told to the owner of the writer: today it lists the tokens that came later, and not those that a Scan could not show.
it('a directory that began with the updates of a Scan has no tokens', async () => {
  const contracts = new Map<string, Contract>();
  const scan = linesOf(parseLedger('00:01 : +a alice 1 ; +t alice 5 USDC@registry', contracts), 'scan');
  const participant = linesOf(parseLedger('00:12 : +u alice 7 USDC@registry\n00:31 :', contracts), 'acs-delta');
  const files = [scan, participant].map((lines, i) => directory.writeLines(`${i}.ndjson`, lines));
  expect((await replayInto(directory.at('changing'), files)).halted).toBeNull();
  using service = openHoldings(directory.at('changing'));
  const rows = await allRows(service.app, `${V1}/instruments`, {});
  expect(rows.map(({ id }) => id)).toEqual(['Amulet']);
});

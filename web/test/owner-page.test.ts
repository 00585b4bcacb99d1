import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  ALICE,
  card,
  cells,
  type Dashboard,
  expectSaved,
  LARGE,
  NOBODY,
  percentOf,
  type Row,
  savedBy,
  settled,
  shown,
  startDashboard,
  units,
} from './dashboard.ts';

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterEach(() => dashboard.closePages());
afterAll(async () => await dashboard?.[Symbol.asyncDispose]());

/** The card of holdings shows what the summary answers. */
async function expectHoldings(page: Page, party: string, asked: object): Promise<void> {
  const question = {
    ...{ migration_id: 0, record_time: '2199-01-01T00:00:00Z', record_time_match: 'at_or_before', ...asked },
    owner_party_ids: [party],
  };
  const answer = await dashboard.answer<Row & { summaries: Row[] }>('/v0/holdings/summary', question);
  const [summary] = answer.summaries;
  const within = card(page, 'record_time' in asked ? /^Holdings at / : 'Holdings now');
  const figures = await within
    .locator('.figure')
    .evaluateAll((all) => all.map((each) => [...each.children].map(({ textContent }) => textContent)));
  const names = [/^Total$/, /^Unlocked$/, /^Locked$/, /^On unlocked$/, /^On locked$/, /^Total fees$/, /^Available/];
  expect(names.map((name) => figures.find(([given]) => name.test(given!))![1])).toEqual([
    summary!.total_coin_holdings,
    summary!.total_unlocked_coin,
    summary!.total_locked_coin,
    summary!.accumulated_holding_fees_unlocked,
    summary!.accumulated_holding_fees_locked,
    summary!.accumulated_holding_fees_total,
    summary!.total_available_coin,
  ]);
  expect(await within.locator('time').first().textContent()).toBe(shown(answer.record_time));
  expect(await within.locator('h3').textContent()).toContain(`round ${answer.computed_as_of_round}`);
  expect(await within.getByText('no coin at this snapshot').count()).toBe(party === NOBODY ? 1 : 0);
}

it.each([
  [LARGE, '?at=2025-02-13T12:03:20Z&round=300', { record_time: '2025-02-13T12:03:20Z', as_of_round: 300 }],
  [NOBODY, '', {}],
])('shows what %s has: %s', async (party, query, asked) => {
  const { page } = await dashboard.open(`/owners/${party}${query}`);
  await expectHoldings(page, party, asked);
});

it('shows an owner at the time and round that are asked for, under an address to keep', async () => {
  const { page } = await dashboard.open(`/owners/${ALICE}`);
  for (const [label, text] of [
    ['At (UTC)', '2025-02-12 00:35'],
    ['As of round', '104'],
  ] as const) {
    await page.getByLabel(label).fill(text);
    await page.keyboard.press('Enter');
  }
  await card(page, 'Holdings at 2025-02-12 00:35 UTC').getByText('Snapshot of 2025-02-12 00:30').waitFor();
  await settled(page);
  await expectHoldings(page, ALICE, { record_time: '2025-02-12T00:35:00Z', as_of_round: 104 });
  expect(new URL(page.url()).search).toBe('?at=2025-02-12T00:35:00Z&round=104');
  expect(await page.getByText('count as negative').count()).toBe(0);
  await page.getByRole('button', { name: 'Now' }).click();
  await card(page, 'Holdings now').waitFor();
  await page.getByLabel('As of round').fill('-1000');
  await page.keyboard.press('Enter');
  await page.getByText('Round -1000 is before coins').waitFor();
});

it('says what is wrong with a time in the address', async () => {
  const { page, faults } = await dashboard.open('/owners?at=yesterday');
  await page.getByText(/yesterday.*Show the newest/).waitFor();
  expect(await page.locator('main').textContent()).toMatch(/^Ownersyesterday in the address is not a time/);
  expect(faults).toEqual([]);
  await page.goto(`${dashboard.origin}/?at=2024-01-01T00:00:00Z`);
  await page.getByText('No snapshot at or before 2024-01-01 00:00 UTC. The first is that of').waitFor();
  await page.getByRole('link', { name: '2025-02-12 00:10' }).click();
  await page.waitForURL('**/?at=2025-02-12T00:10:00Z');
  expect(faults).toEqual([]);
  await page.goto(`${dashboard.origin}/owners/${ALICE}?at=yesterday`);
  await page.getByRole('link', { name: 'Show the newest' }).click();
  await card(page, 'Holdings now').waitFor();
});

it('shows what an owner was, is and will be: rank, changes, first seen, next unlock', async () => {
  const { page, faults } = await dashboard.open(`/owners/${LARGE}`);
  const { record_time } = await dashboard.newestSnapshot();
  const of = (name: string): Locator => card(page, 'Holdings now').locator('.figure', { hasText: name }).locator('dd');
  const { owners } = await dashboard.answer<{ owners: Row[] }>('/holdfast/v1/top?limit=1000');
  const own = owners.find(({ party_id }) => party_id === LARGE)!;
  expect(await of('Rank and share of the total').textContent()).toBe(`# ${own.rank} ${percentOf(own)} %`);
  const path = `/holdfast/v1/owners/${LARGE}`;
  const first = await dashboard.answer<{ changes: Row[] }>(`${path}/changes?order=asc&limit=1`);
  expect(await of('First seen').textContent()).toBe(shown(first.changes[0]!.record_time));
  const { locks } = await dashboard.answer<{ locks: Row[] }>(`${path}/locks?limit=1000`);
  const next = locks.find(({ expired }) => !expired)!;
  expect(await of('Next unlock').textContent()).toBe(`${shown(next.expires_at)} ${next.amount}`);
  const since = new Date(Date.parse(String(record_time)) - 86_400_000).toISOString();
  const { points } = await dashboard.answer<{ points: Row[] }>(`${path}/history?to=${since}&every=10m`);
  const change = units(own.total) - units(points.at(-1)!.total);
  expect(units(await of('Change in 24 h').textContent())).toBe(change);
  expect(await of('Change in 30 d').textContent()).toBe('–');
  expect(faults).toEqual([]);
});

it('shows the chart, the movements, the locks, the statement and the contracts of an owner, and saves them', async () => {
  const { page, faults } = await dashboard.open(`/owners/${LARGE}`);
  await expectHoldings(page, LARGE, {});
  const { record_time } = await dashboard.newestSnapshot();
  const total = await card(page, 'Holdings now').locator('.figure dd').first().textContent();
  const chart = card(page, 'Balance over time');
  await expectSaved(chart, `owners/${LARGE}/history?migration_id=0&every=10m&format=csv`);
  const step = chart.getByLabel('Step');
  for (const every of await step.locator('option').allTextContents()) {
    await step.selectOption(every);
    await settled(page);
    const [time, , , last] = await chart.locator('.readout dd').allTextContents();
    expect([every, time, last]).toEqual([every, shown(record_time), total]);
  }

  const [path, ofMovements] = [`/holdfast/v1/owners/${LARGE}`, card(page, 'Movements')];
  await expectSaved(ofMovements, `owners/${LARGE}/movements?migration_id=0&format=csv&limit=all`);
  for (const [kind, name] of [
    ['out', 'Out'],
    ['in,out,lock,unlock', 'All'],
  ] as const) {
    await ofMovements.getByRole('button', { name, exact: true }).click();
    await settled(page);
    const found = await cells(ofMovements);
    await ofMovements.getByRole('button', { name: 'Next' }).click();
    await settled(page);
    found.push(...(await cells(ofMovements)));
    const { movements } = await dashboard.answer<{ movements: Row[] }>(`${path}/movements?limit=20&kind=${kind}`);
    expect(found.map((row) => [...row.slice(1, 5), row[6]])).toEqual(
      movements.map((row) => [row.kind, row.change_total, row.change_locked, row.total, row.update_id]),
    );
  }
  // Only the total is gain or loss.
  expect(await ofMovements.locator(':is(.gain, .loss)').count()).toBeGreaterThan(0);
  expect(await ofMovements.locator('td:not([data-name="Change"]) :is(.gain, .loss)').count()).toBe(0);
  // Back, a reload and a link show the same page.
  const second = await cells(ofMovements);
  await page.reload();
  await settled(page);
  expect(await cells(ofMovements)).toEqual(second);
  await ofMovements.getByText(/^11–20 movements/).waitFor();
  await ofMovements.getByRole('button', { name: 'Back' }).click();
  await settled(page);
  await page.goBack();
  await settled(page);
  expect(await cells(ofMovements)).toEqual(second);
  await ofMovements.getByRole('button', { name: 'By snapshot' }).click();
  await settled(page);
  const { changes } = await dashboard.answer<{ changes: Row[] }>(`${path}/changes?migration_id=0&limit=10`);
  expect(await cells(ofMovements)).toEqual(
    changes.map((row) => [
      shown(row.record_time),
      ...[row.change_total, row.change_unlocked, row.change_locked, row.total],
      String(row.contracts),
    ]),
  );

  const ofLocks = card(page, 'Locks');
  const { locks, unlocking } = await dashboard.answer<{ locks: Row[]; unlocking: Row }>(`${path}/locks?limit=10`);
  expect((await ofLocks.locator('.figure dd').allTextContents()).slice(0, 3)).toEqual(Object.values(unlocking));
  expect((await cells(ofLocks)).map((row) => [row[0], row[1], row[3], row[5]])).toEqual(
    locks.map((row) => [
      String(row.expires_at).replace('T', ' ').replace('Z', ' UTC'),
      row.amount,
      row.context,
      row.contract_id,
    ]),
  );
  const days = (await ofLocks.locator('.days .amount').allTextContents()).map(units);
  expect(days.length).toBe(30);
  expect(days.reduce((a, b) => a + b)).toBe(units(unlocking['30d']));

  const ofStatement = card(page, 'Statement');
  const { periods } = await dashboard.answer<{ periods: Row[] }>(`${path}/statement?every=1mo`);
  const columns = ['opening', 'received', 'sent', 'locked_change', 'closing'];
  expect((await cells(ofStatement)).map((row) => row.slice(1, 6))).toEqual(
    periods.toReversed().map((row) => columns.map((name) => row[name])),
  );
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    ofStatement.getByRole('link', { name: 'days' }).click(),
  ]);
  const of = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n')
    .slice(1);
  expect([of[0]!.split(',')[2], of.at(-1)!.split(',')[6]]).toEqual([periods[0]!.opening, periods[0]!.closing]);

  const ids = await dashboard.contractsOf(LARGE);
  const ofContracts = card(page, 'Contracts');
  const [header, ...rows] = (await savedBy(ofContracts, 'button')).trim().split('\r\n');
  const fields = 'contract_id,created_at,locked,amount,rate_per_round,created_round';
  expect(header).toBe(`${fields},expires_at,lock_holders,lock_context`);
  expect(rows.map((row) => row.split(',')[0])).toEqual(ids);
  const saved = /^00[0-9a-f]+,2025-\S+Z,(true|false),\d+\.\d{10},0\.0038051800,\d+,(,,|2025-\S+Z,[\w:-]+,\w+)$/;
  expect(rows.filter((row) => !saved.test(row))).toEqual([]);
  expect((await cells(ofContracts)).map((row) => row.at(-1))).toEqual(ids.slice(0, 10));
  await ofContracts.getByLabel('Rows').selectOption('100');
  await ofContracts.getByRole('button', { name: 'Amount' }).click();
  await settled(page);
  const amounts = rows.map((row) => units(row.split(',')[3])).sort((a, b) => (a > b ? -1 : 1));
  expect((await cells(ofContracts)).map((row) => units(row[2]))).toEqual(amounts.slice(0, 100));

  // Another time begins at its own first page.
  await page.getByLabel('At (UTC)').fill('2025-02-14');
  await page.keyboard.press('Enter');
  await card(page, 'Holdings at 2025-02-14 00:00 UTC').waitFor();
  await page.goBack();
  await card(page, 'Holdings now').waitFor();
  expect(faults).toEqual([]);
});

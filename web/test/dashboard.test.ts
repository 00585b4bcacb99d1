import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  ALICE,
  breaches,
  card,
  cells,
  contrastBreaches,
  type Dashboard,
  LARGE,
  NOBODY,
  settled,
  startDashboard,
} from './dashboard.ts';

type Row = Readonly<Record<string, string | number>>;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterEach(() => dashboard.closePages());
afterAll(async () => await dashboard?.[Symbol.asyncDispose]());

async function backgroundOf(page: Page): Promise<string> {
  return await page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
}

/** Each figure of the page is in an answer to the commands that are shown beside it. */
async function expectCommands(page: Page): Promise<void> {
  for (const region of await page.getByRole('region').all()) {
    const button = region.getByRole('button', { name: /^curl/ });
    if ((await button.count()) === 0) continue;
    await button.click();
    await region.locator('.command').first().waitFor();
    const answers: string[] = [];
    for (const command of await region.locator('.command code').allTextContents()) {
      if (command.endsWith("stream'")) continue;
      const { stdout, status } = spawnSync('sh', ['-c', `${command} --silent --fail`], { encoding: 'utf8' });
      expect([command, status]).toEqual([command, 0]);
      answers.push(stdout);
    }
    const numbers = (await region.locator('.amount').allTextContents()).filter((each) => /\.\d{10}$/.test(each));
    const given = numbers.filter((number) => answers.some((answer) => answer.includes(number)));
    if (numbers.length > 0) expect(given.length).toBeGreaterThan(0);
  }
}

it.each([
  ['the overview', '/', true],
  ['an owner', `/owners/${LARGE}`, true],
  ['the snapshots', '/snapshots', true],
  ['an owner at a time', `/owners/${LARGE}?at=2025-02-13T12:00:00Z&round=300`, false],
  ['an owner who never had coin', `/owners/${NOBODY}`, false],
  ['what is no address', '/owners/%E0%A4%A', false],
])('%s is whole, fits, is accessible in dark and light and does nothing it must not', async (_, path, hasAllParts) => {
  const { page, faults } = await dashboard.open(path, { colorScheme: 'dark' });
  expect(await backgroundOf(page)).toBe('rgb(13, 19, 24)');
  if (hasAllParts) await expectCommands(page);
  expect(await breaches(page)).toEqual([]);
  if (hasAllParts) expect(await contrastBreaches(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await backgroundOf(page)).not.toBe('rgb(13, 19, 24)');
  if (hasAllParts) expect(await contrastBreaches(page)).toEqual([]);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    // The chart is drawn again a moment after the page has its new width.
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }
  expect(await breaches(page)).toEqual([]);
  expect(faults).toEqual([]);
});

const shown = (time: unknown): string =>
  `${String(time)
    .replace('T', ' ')
    .replace(/(:00)?Z$/, '')} UTC`;

/** The newest snapshot at or before a time. */
async function newestSnapshot(to = '2199-01-01T00:00:00Z'): Promise<Row> {
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>(`/holdfast/v1/snapshots?to=${to}&limit=1`);
  return snapshots[0]!;
}

/** What a card saves as CSV. */
async function savedBy(within: Locator, control: 'link' | 'button'): Promise<string> {
  const [download] = await Promise.all([
    within.page().waitForEvent('download'),
    within.getByRole(control, { name: 'CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
  return readFileSync(await download.path(), 'utf8');
}

/** A card saves what the same question answers. */
async function expectSaved(within: Locator, same: string): Promise<void> {
  const text = await savedBy(within, 'link');
  expect(text.split('\r\n').length).toBeGreaterThan(10);
  expect(text).toBe(await (await fetch(`${dashboard.origin}/holdfast/v1/${same}`)).text());
}

it('shows the newest snapshot and the largest holders in each order, to the last digit', async () => {
  const { page } = await dashboard.open('/');
  const newest = await newestSnapshot();
  const ofNewest = card(page, 'Newest snapshot');
  const values = await ofNewest.locator('.figure dd').allTextContents();
  expect(values.map((value) => value.replace(/ .*|Copy.*/, ''))).toEqual(
    [...[newest.total, newest.unlocked, newest.locked], ...[newest.owners, newest.contracts, newest.digest]].map(
      String,
    ),
  );
  expect(await ofNewest.locator('time').textContent()).toBe(shown(newest.record_time));

  const within = card(page, 'Largest holders');
  await expectSaved(within, 'top?migration_id=0&by=total&format=csv&limit=all');
  for (const [button, by] of [
    ['Total', 'total'],
    ['Unlocked', 'unlocked'],
    ['Locked', 'locked'],
  ] as const) {
    await within.getByRole('button', { name: button, exact: true }).click();
    await settled(page);
    if (by === 'locked') {
      await within.getByRole('button', { name: 'Next' }).click();
      await settled(page);
    }
    const { owners } = await dashboard.answer<{ owners: Row[] }>(`/holdfast/v1/top?migration_id=0&by=${by}&limit=20`);
    const rows = (await cells(within)).map(([rank, _party, ...others]) => [rank, ...others]);
    const expected = owners.slice(by === 'locked' ? 10 : 0, by === 'locked' ? 20 : 10).map((owner) => [
      String(owner.rank),
      owner.unlocked,
      owner.locked,
      owner.total,
      `${String(owner.share)
        .replace(/^(\d+)\.(\d\d)/, '$1$2.')
        .replace(/^0+(?=\d)/, '')} %`,
    ]);
    expect(rows).toEqual(expected);
  }
});

it('shows each point of the supply exactly, under the pointer, to the keyboard and in the table, and its change over a range', async () => {
  const { page } = await dashboard.open('/');
  const within = card(page, 'Supply over time');
  await expectSaved(within, 'snapshots?migration_id=0&order=asc&every=10m&format=csv&limit=all');
  const readout = (): Promise<string[]> => within.locator('.readout dd').allTextContents();
  const last = await newestSnapshot();
  const newest = await readout();
  const plot = within.locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await plot.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await expect.poll(readout).not.toEqual(newest);
  const [time = '', ...amounts] = await readout();
  expect(amounts.at(-1)).toBe((await newestSnapshot(time.replace(' UTC', ':00Z').replace(' ', 'T'))).total);

  await page.mouse.move(0, 0);
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>(
    '/holdfast/v1/snapshots?migration_id=0&order=asc&limit=1000',
  );
  const rows = snapshots.map((row) => [shown(row.record_time), row.unlocked, row.locked, row.total]);
  await within.getByRole('slider').focus();
  await page.keyboard.press('Home');
  for (const row of rows.slice(0, 3)) {
    await expect.poll(readout).toEqual(row);
    await page.keyboard.press('ArrowRight');
  }
  await within.locator('summary').click();
  await within.locator('tbody tr').first().waitFor();
  expect(await cells(within)).toEqual(rows);

  await plot.scrollIntoViewIfNeeded();
  const from = within.locator('input').first();
  const before = await from.inputValue();
  const drawn = (await plot.boundingBox())!;
  await page.mouse.move(drawn.x + width / 4, drawn.y + 20);
  await page.mouse.down();
  await page.mouse.move(drawn.x + width / 2, drawn.y + 40, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await from.inputValue()) > before).toBe(true);

  const change = within.locator('.change');
  const units = ({ total }: Row): bigint => BigInt(String(total).replace('.', ''));
  for (const range of [
    { from: '2025-02-12T00:10', to: String(last.record_time).slice(0, 16) },
    { from: '2025-02-12T00:35', to: '2025-02-14T07:49' },
  ]) {
    await within.getByLabel('From (UTC)').fill(range.from);
    await within.getByLabel('To (UTC)').fill(range.to);
    await page.keyboard.press('Tab');
    const ends = [await newestSnapshot(`${range.from}:00Z`), await newestSnapshot(`${range.to}:00Z`)] as const;
    for (const step of ['1h', '1d']) {
      await within.getByLabel('Step').selectOption(step);
      await expect
        .poll(() => change.locator('time').allTextContents())
        .toEqual(ends.map(({ record_time }) => shown(record_time)));
      const amount = await change.locator('.amount').textContent();
      expect([step, BigInt(amount!.replace('.', ''))]).toEqual([step, units(ends[1]) - units(ends[0])]);
    }
  }
  await within.getByLabel('From (UTC)').fill('2025-02-12T00:05');
  await page.keyboard.press('Tab');
  await change.getByText('No snapshot at or before 2025-02-12 00:05').waitFor();
});

/** The card of holdings shows what the summary answers. */
async function expectHoldings(page: Page, party: string, asked: object): Promise<void> {
  const question = {
    ...{ migration_id: 0, record_time: '2199-01-01T00:00:00Z', record_time_match: 'at_or_before', ...asked },
    owner_party_ids: [party],
  };
  const answer = await dashboard.answer<Row & { summaries: Row[] }>('/v0/holdings/summary', question);
  const [summary] = answer.summaries;
  const within = card(page, 'record_time' in asked ? /^Holdings at / : 'Holdings now');
  const values = await within.locator('.figure dd').allTextContents();
  expect(values).toEqual([
    summary!.total_coin_holdings,
    summary!.total_unlocked_coin,
    summary!.total_locked_coin,
    summary!.accumulated_holding_fees_unlocked,
    summary!.accumulated_holding_fees_locked,
    summary!.accumulated_holding_fees_total,
    summary!.total_available_coin,
  ]);
  expect(await within.locator('time').textContent()).toBe(shown(answer.record_time));
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
  await page.getByLabel('At (UTC)').fill('2025-02-12T00:35:00');
  await page.getByLabel('Fees as of round').fill('104');
  await page.getByRole('button', { name: 'Show' }).click();
  await card(page, 'Holdings at 2025-02-12 00:35 UTC').getByText('Snapshot of 2025-02-12 00:30').waitFor();
  await settled(page);
  await expectHoldings(page, ALICE, { record_time: '2025-02-12T00:35:00Z', as_of_round: 104 });
  expect(new URL(page.url()).search).toBe('?migration=0&at=2025-02-12T00:35:00Z&round=104');
  await page.getByRole('button', { name: 'Now' }).click();
  await card(page, 'Holdings now').waitFor();
});

it('shows the holdings, the chart, the changes and the contracts of an owner, and saves them', async () => {
  const { page, faults } = await dashboard.open(`/owners/${LARGE}`);
  await expectHoldings(page, LARGE, {});
  const { record_time } = await newestSnapshot();
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

  const { changes } = await dashboard.answer<{ changes: Row[] }>(
    `/holdfast/v1/owners/${LARGE}/changes?migration_id=0&limit=20`,
  );
  const ids = await dashboard.contractsOf(LARGE);
  const [ofChanges, ofContracts] = [card(page, 'Changes'), card(page, 'Contracts')];
  await expectSaved(ofChanges, `owners/${LARGE}/changes?migration_id=0&format=csv&limit=all`);
  const [header, ...rows] = (await savedBy(ofContracts, 'button')).trim().split('\r\n');
  expect(header).toBe('contract_id,created_at,locked,amount,rate_per_round,created_round');
  expect(rows.map((row) => row.split(',')[0])).toEqual(ids);
  const saved = /^00[0-9a-f]+,2025-\S+Z,(true|false),\d+\.\d{10},0\.0038051800,\d+$/;
  expect(rows.filter((row) => !saved.test(row))).toEqual([]);
  const found: { changes: string[][]; contracts: string[] } = { changes: [], contracts: [] };
  for (const isLast of [false, true]) {
    found.changes.push(...(await cells(ofChanges)));
    found.contracts.push(...(await cells(ofContracts)).map((row) => row.at(-1)!));
    if (isLast) break;
    await ofChanges.getByRole('button', { name: 'Next' }).click();
    await ofContracts.getByRole('button', { name: 'Next' }).click();
    await settled(page);
  }
  expect(found.changes).toEqual(
    changes.map((row) => [
      shown(row.record_time),
      ...[row.change_unlocked, row.change_locked, row.unlocked, row.locked],
      String(row.contracts),
    ]),
  );
  expect(found.contracts).toEqual(ids.slice(0, 20));

  // Another time begins at its own first page.
  await page.getByLabel('At (UTC)').fill('2025-02-14T00:00:00');
  await page.getByRole('button', { name: 'Show' }).click();
  await ofContracts.getByText('Page 1').waitFor();
  const [first] = await dashboard.contractsOf(LARGE, { record_time: '2025-02-14T00:00:00Z', page_size: 1 });
  await ofContracts.locator('tbody tr').first().getByText(first!).waitFor();
  expect(faults).toEqual([]);
});

it('lists the snapshots with their digests, and says which one a time means', async () => {
  const { page } = await dashboard.open('/snapshots');
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>('/holdfast/v1/snapshots?migration_id=0&limit=20');
  const listed = card(page, 'Snapshots, newest first');
  await expectSaved(listed, 'snapshots?migration_id=0&format=csv&limit=all');
  expect((await cells(listed)).map((row) => [row[0], row[5], row[6]!.replace(/Copy.*$/, '')])).toEqual(
    snapshots.map((row) => [shown(row.record_time), row.total, row.digest]),
  );
  await page.getByLabel('Time (UTC)').fill('2025-02-12T00:35:07');
  await settled(page);
  const meaning = card(page, 'Find a snapshot');
  expect(await meaning.locator('.meaning').textContent()).toContain(
    'before 2025-02-12 00:35:07 UTC: 2025-02-12 00:30 UTC',
  );
  await meaning.getByRole('button', { name: 'List from here' }).click();
  await settled(page);
  const [first] = await cells(card(page, 'Snapshots until 2025-02-12 00:30 UTC'));
  expect(first![0]).toBe('2025-02-12 00:30 UTC');
  await page.getByLabel('Time (UTC)').fill('2025-02-11T00:00:00');
  await settled(page);
  expect(await meaning.textContent()).toContain('No snapshot at or before 2025-02-11');
});

const search = (page: Page): Locator => page.getByRole('combobox', { name: /^Find an owner/ });
const found = (page: Page): Locator => page.getByRole('listbox').getByRole('option');

it('completes the beginning of a party id', async () => {
  const { page, faults } = await dashboard.open('/');
  await search(page).fill('aurora-b');
  const options = found(page);
  await options.first().waitFor();
  const { owners } = await dashboard.answer<{ owners: { party_id: string; total: string }[] }>(
    '/holdfast/v1/owners?prefix=aurora-b&limit=8',
  );
  const shown = owners.map(({ party_id, total }) => `${party_id}${total}`);
  await expect.poll(() => options.allTextContents()).toEqual(shown);
  await page.setViewportSize({ width: 390, height: 844 });
  const { x, width } = (await page.getByRole('listbox').boundingBox())!;
  expect([x >= 0, x + width <= 390]).toEqual([true, true]);
  await options.first().click();
  await page.waitForURL(`**/owners/${owners[0]!.party_id}?migration=0`);
  await search(page).fill('Aurora');
  await page.getByText('No owner starts with this').waitFor();
  await search(page).fill('nobody::1220ab');
  await page.getByText('No owner starts with this').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('This party never had coin').waitFor();
  await page.goBack();
  await page.waitForURL(`**/owners/${owners[0]!.party_id}?migration=0`);
  expect(faults).toEqual([]);
});

it('is used by keyboard alone', async () => {
  const { page, faults } = await dashboard.open('/');
  const focused = (): Promise<string> =>
    page.evaluate(
      `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent ?? '').trim()`,
    ) as Promise<string>;
  const tabTo = async (text: RegExp): Promise<void> => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab');
      if (text.test(await focused())) return;
    }
    throw new Error(`the focus does not reach ${text}`);
  };
  await tabTo(/^Snapshots$/);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/snapshots');
  expect(await focused()).toBe('Snapshots');
  await search(page).focus();
  await page.keyboard.type('alice');
  await found(page).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => found(page).first().getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/owners/${ALICE}*`);
  await settled(page);
  await tabTo(/^curl: the requests of “Holdings now”$/);
  await page.keyboard.press('Enter');
  await page.locator('.command').first().waitFor();
  await tabTo(/^Balance over time: the arrow keys/);
  await page.keyboard.press('Home');
  const reached = '2025-02-12 00:10 UTC: unlocked 500';
  await expect.poll(() => page.getByRole('slider').getAttribute('aria-valuetext')).toContain(reached);
  expect(faults).toEqual([]);
});

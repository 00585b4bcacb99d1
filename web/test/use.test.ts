import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALICE, card, type Dashboard, LARGE, settled, startDashboard } from './dashboard.ts';

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(async () => await dashboard?.[Symbol.asyncDispose]());

const search = (page: Page): Locator => page.getByRole('combobox', { name: /^Find an owner/ });
const found = (page: Page): Locator => page.getByRole('listbox').getByRole('option');

it('completes the beginning of a party id', async () => {
  const { page, faults } = await dashboard.open('/');
  await search(page).fill('aurora-b');
  const options = found(page);
  await options.first().waitFor();
  const { owners } = await dashboard.answer<{ owners: { party_id: string; total_coin_holdings: string }[] }>(
    '/holdfast/v1/owners?prefix=aurora-b&limit=8',
  );
  const shown = owners.map(({ party_id, total_coin_holdings }) => `${party_id}${total_coin_holdings}`);
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

it('shows an owner at the time and round that are asked for, under an address to keep', async () => {
  const { page } = await dashboard.open(`/owners/${ALICE}`);
  await page.getByLabel('At (UTC)').fill('2025-02-12T00:35:00');
  await page.getByLabel('Fees as of round').fill('104');
  await page.getByRole('button', { name: 'Show' }).click();
  await card(page, 'Holdings at 2025-02-12 00:35 UTC').getByText('Snapshot of 2025-02-12 00:30').waitFor();
  expect(new URL(page.url()).search).toBe('?migration=0&at=2025-02-12T00:35:00Z&round=104');
  await page.getByRole('button', { name: 'Now' }).click();
  await card(page, 'Holdings now').waitFor();
});

it('begins at the first page of the contracts where another time is chosen', async () => {
  const { page } = await dashboard.open(`/owners/${LARGE}`);
  const contracts = card(page, 'Contracts');
  await contracts.getByRole('button', { name: 'Next' }).click();
  await contracts.getByText('Page 2').waitFor();
  await page.getByLabel('At (UTC)').fill('2025-02-14T00:00:00');
  await page.getByRole('button', { name: 'Show' }).click();
  await contracts.getByText('Page 1').waitFor();
  const [first] = await dashboard.contractsOf(LARGE, { record_time: '2025-02-14T00:00:00Z', page_size: 1 });
  await contracts.locator('tbody tr').first().getByText(first!).waitFor();
});

it.each([
  ['/', 'Supply over time', '/holdfast/v1/snapshots?migration_id=0&order=asc&every=10m&format=csv&limit=all'],
  ['/', 'Largest holders', '/holdfast/v1/top?migration_id=0&by=total&format=csv&limit=all'],
  [`/owners/${LARGE}`, 'Balance over time', `/holdfast/v1/owners/${LARGE}/history?migration_id=0&every=10m&format=csv`],
  [`/owners/${LARGE}`, 'Changes', `/holdfast/v1/owners/${LARGE}/changes?migration_id=0&format=csv&limit=all`],
  ['/snapshots', 'Snapshots, newest first', '/holdfast/v1/snapshots?migration_id=0&format=csv&limit=all'],
])('saves on %s the rows of %s as CSV', async (path, title, same) => {
  const { page } = await dashboard.open(path);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    card(page, title).getByRole('link', { name: 'CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
  const text = readFileSync(await download.path(), 'utf8');
  expect(text.split('\r\n').length).toBeGreaterThan(10);
  expect(text).toBe(await (await fetch(`${dashboard.origin}${same}`)).text());
});

it('saves the contracts of all pages as CSV', async () => {
  const { page, faults } = await dashboard.open(`/owners/${LARGE}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    card(page, 'Contracts').getByRole('button', { name: 'CSV' }).click(),
  ]);
  const text = readFileSync(await download.path(), 'utf8');
  const [header, ...rows] = text.trim().split('\r\n');
  expect(header).toBe('contract_id,created_at,locked,amount,rate_per_round,created_round');
  expect(rows.map((row) => row.split(',')[0])).toEqual(await dashboard.contractsOf(LARGE));
  expect(rows.every((row) => /^00[0-9a-f]+,2025-\S+Z,(true|false),\d+\.\d{10},0\.0038051800,\d+$/.test(row))).toBe(
    true,
  );
  expect(faults).toEqual([]);
});

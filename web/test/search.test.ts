import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  ALICE,
  breaches,
  card,
  cells,
  type Dashboard,
  LARGE,
  type Row,
  settled,
  startDashboard,
  units,
} from './dashboard.ts';

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterEach(() => dashboard.closePages());
afterAll(async () => await dashboard?.[Symbol.asyncDispose]());

const search = (page: Page): Locator => page.getByRole('combobox', { name: /^Find an owner/ });
const found = (page: Page): Locator => page.getByRole('listbox').getByRole('option');

it('calls parties as the operator does, finds them by that, and adds up groups', async () => {
  const { page } = await dashboard.open('/owners?rows=100');
  const { owners } = await dashboard.answer<{ owners: Row[] }>('/holdfast/v1/top?limit=1000');
  const of = (party: string): bigint => units(owners.find(({ party_id }) => party_id === party)!.total);
  const groups = card(page, 'Groups');
  expect((await cells(groups)).map((row) => [row[0], units(row[2])])).toEqual([['Exchanges', of(LARGE) + of(ALICE)]]);
  await search(page).fill('aurora bank ag');
  await found(page).first().click();
  await page.locator('.party-name', { hasText: 'Aurora Bank AG' }).waitFor();
});

it('finds owners by any part of their ids, the largest first, times, and those seen last', async () => {
  const { page, faults } = await dashboard.open('/');
  await search(page).fill('BANK');
  const options = found(page);
  await options.first().waitFor();
  const { owners } = await dashboard.answer<{ owners: Row[] }>('/holdfast/v1/top?limit=1000');
  const banks = owners.filter(({ party_id }) => String(party_id).includes('bank')).slice(0, 8);
  const text = async (): Promise<string[]> => (await options.allTextContents()).map((each) => each.replace(/^.* /, ''));
  await expect.poll(text).toEqual(banks.map(({ party_id, total }) => `${party_id}${total}`));
  await page.setViewportSize({ width: 390, height: 844 });
  const { x, width } = (await page.getByRole('listbox').boundingBox())!;
  expect([x >= 0, x + width <= 390]).toEqual([true, true]);
  const second = String(banks[1]!.party_id);
  await options.nth(1).click();
  await page.waitForURL(`**/owners/${second}`);
  await settled(page);
  await search(page).focus();
  await expect.poll(() => options.allTextContents()).toEqual([second]);
  await search(page).fill(second.slice(-20).toUpperCase());
  await expect.poll(() => options.count()).toBe(1);
  await search(page).fill('2025-02-13 12:00');
  await options.getByText('All pages at 2025-02-13 12:00 UTC').waitFor();
  await search(page).fill('nobody::1220ab');
  await page.getByText('Nothing has this in its id or name').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('This party has no coin at this snapshot.').waitFor();
  await page.goBack();
  await page.waitForURL(`**/owners/${second}`);
  expect(faults).toEqual([]);
});

it('finds an update by its id, and shows what it moved', async () => {
  const { page, faults } = await dashboard.open('/');
  const { movements } = await dashboard.answer<{ movements: (Row & { others: Row[] })[] }>(
    '/holdfast/v1/movements?limit=1000',
  );
  const { update_id: id, record_time: time } = movements.find(({ others }) => others.length > 2)!;
  const moved = movements.filter(({ update_id }) => update_id === id);
  // As the id of an event, too.
  await search(page).fill(`#${id}:3`);
  await found(page).getByText(`${moved.length} movements`).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/updates/${id}`);
  const within = card(page, 'What it moved');
  await within.locator('tbody tr').first().waitFor();
  expect(await within.locator('time').first().getAttribute('datetime')).toBe(time);
  const amounts = (await cells(within)).map((row) => [row[1], ...row.slice(2).map(units)]);
  const wanted = moved.map((row) => [
    'Amulet',
    ...[row.change_total, row.change_unlocked, row.change_locked].map(units),
  ]);
  expect(amounts.map(String).sort()).toEqual(wanted.map(String).sort());
  expect(await breaches(page)).toEqual([]);
  await within.getByRole('link', { name: 'Amulet' }).first().click();
  await page.waitForURL('**/owners/**');
  await settled(page);
  const link = card(page, 'Movements').locator('td[data-name="Update"] a').first();
  const other = await link.textContent();
  await link.click();
  await page.waitForURL(`**/updates/${other}`);
  await page.goto(`${dashboard.origin}/updates/1220ffffffffffffffff`);
  await page.getByText('No update that moved').waitFor();
  expect(faults).toEqual([]);
});

it('finds a contract by its id, active or archived, at the page of its owner', async () => {
  const { page, faults } = await dashboard.open('/');
  const time = '2025-02-13T12:00:00Z';
  const before = await dashboard.contractsOf(LARGE, { record_time: time });
  const now = await dashboard.contractsOf(LARGE);
  const archived = before.find((id) => !now.includes(id))!;
  for (const id of [now[0]!, archived]) {
    await search(page).fill(id);
    await found(page).getByText('Contract of').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/owners/${LARGE}?**contract=${id}`);
    const ofContract = card(page, 'Contract');
    await ofContract.locator('tbody tr').waitFor();
    expect((await cells(ofContract)).map((row) => row.at(-1))).toEqual([id]);
    const at = new URL(page.url()).searchParams.get('at');
    expect(at === null).toBe(id !== archived);
    if (at !== null) expect(await dashboard.contractsOf(LARGE, { record_time: at })).toContain(id);
  }
  await page.getByRole('button', { name: 'Now' }).click();
  await card(page, 'Contract').getByText('It is not among the contracts').waitFor();
  await card(page, 'Contract').getByRole('button', { name: 'Close' }).click();
  await card(page, 'Contract').waitFor({ state: 'detached' });
  await search(page).fill('00'.repeat(40));
  await page.getByText('Nothing has this in its id or name').waitFor();
  expect(faults).toEqual([]);
});

import { spawnSync } from 'node:child_process';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  ALICE,
  breaches,
  card,
  cells,
  contrastBreaches,
  type Dashboard,
  expectSaved,
  LARGE,
  NOBODY,
  openExport,
  percentOf,
  type Row,
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

async function backgroundOf(page: Page): Promise<string> {
  return await page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
}

/** Each figure of the page is in an answer to the commands that are shown beside it. */
async function expectCommands(page: Page): Promise<void> {
  for (const region of await page.getByRole('region').all()) {
    if (!(await openExport(region))) continue;
    await region.locator('.command').first().waitFor();
    const answers: string[] = [];
    for (const command of await region.locator('.command code').allTextContents()) {
      if (!command.startsWith('curl') || command.endsWith("stream'")) continue;
      const { stdout, status } = spawnSync('sh', ['-c', `${command} --silent --fail`], { encoding: 'utf8' });
      expect([command, status]).toEqual([command, 0]);
      answers.push(stdout);
    }
    // Sums of what is answered are tested apart.
    if ((await region.locator('.members').count()) > 0) continue;
    const numbers = (await region.locator('.amount').allTextContents()).filter((each) => /\.\d{10}$/.test(each));
    const given = numbers.filter((number) => answers.some((answer) => answer.includes(number)));
    if (numbers.length > 0) expect(given.length).toBeGreaterThan(0);
  }
}

it.each([
  ['the overview', '/', true],
  ['an owner', `/owners/${LARGE}`, true],
  ['the snapshots', '/snapshots', true],
  ['a snapshot', '/snapshots/0/2025-02-13T12:00:00Z', true],
  ['all owners', '/owners?rows=50', false],
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

it('shows the newest snapshot and the largest holders in each order, to the last digit', async () => {
  const { page } = await dashboard.open('/');
  const newest = await dashboard.newestSnapshot();
  const ofNewest = card(page, 'Newest snapshot');
  const values = await ofNewest.locator('.figure dd').allTextContents();
  expect(values.map((value) => value.replace(/ .*/, ''))).toEqual(
    [newest.total, newest.unlocked, newest.locked, newest.owners, newest.contracts].map(String),
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
    const expected = owners
      .slice(by === 'locked' ? 10 : 0, by === 'locked' ? 20 : 10)
      .map((owner) => [String(owner.rank), owner.unlocked, owner.locked, owner.total, `${percentOf(owner)} %`]);
    expect(rows).toEqual(expected);
  }
});

it('has a list of the snapshots, and a page for each with who moved most', async () => {
  const { page, faults } = await dashboard.open('/snapshots?rows=50');
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>('/holdfast/v1/snapshots?migration_id=0&limit=50');
  const listed = card(page, 'All snapshots');
  await expectSaved(listed, 'snapshots?migration_id=0&format=csv&limit=all');
  expect((await cells(listed)).map((row) => [row[0], row[5], row[6]])).toEqual(
    snapshots.map((row) => [shown(row.record_time), row.total, row.digest]),
  );
  const [of, before] = [snapshots[3]!, snapshots[4]!];
  await listed.getByRole('link', { name: shown(of.record_time).replace(' UTC', '') }).click();
  await card(page, 'Who moved most').locator('tbody tr').first().waitFor();
  expect(await card(page, 'Totals').locator('.figure.large dd').textContent()).toBe(of.total);
  expect((await card(page, 'Proof').locator('.id').allTextContents()).sort()).toEqual(
    [of.digest, of.changes_digest].sort(),
  );
  const after = String(before.record_time).replace('Z', '.000001Z');
  const { movements } = await dashboard.answer<{ movements: Row[] }>(
    `/holdfast/v1/movements?from=${after}&to=${of.record_time}&limit=1000`,
  );
  const sums = Map.groupBy(movements, ({ party_id }) => party_id);
  for (const [party, total, unlocked, locked] of await cells(card(page, 'Who moved most'))) {
    const own = sums.get(party!.replace(/^.* /, ''))!;
    const all = (name: string): bigint => own.map((row) => units(row[name])).reduce((a, b) => a + b);
    expect([units(total), units(unlocked), units(locked)]).toEqual(
      ['change_total', 'change_unlocked', 'change_locked'].map(all),
    );
  }
  await page.getByRole('link', { name: '→' }).click();
  await card(page, 'Totals')
    .locator('.figure.large dd')
    .getByText(String(snapshots[2]!.total), { exact: true })
    .waitFor();
  await page.goto(`${dashboard.origin}/snapshots/0/2025-02-12T00:35:00Z`);
  await page.getByText('There is no snapshot of exactly 2025-02-12 00:35 UTC').waitFor();
  expect(faults).toEqual([]);
});

it('shows amounts short where a person chooses that, and copies them whole', async () => {
  const { page, faults } = await dashboard.open('/');
  const total = card(page, 'Newest snapshot').locator('.figure.large .amount');
  const width = async (): Promise<number> => (await total.boundingBox())!.width;
  const exact = await width();
  await page.getByLabel('Amounts').selectOption('short');
  expect(await width()).toBeLessThan(exact);
  await page.reload();
  await settled(page);
  expect(await width()).toBeLessThan(exact);
  const { total: whole } = await dashboard.newestSnapshot();
  const copied = await page.evaluate(
    `getSelection().selectAllChildren(document.querySelector('.figure.large .amount')); String(getSelection())`,
  );
  expect([copied, await total.getAttribute('title')]).toEqual([whole, whole]);
  expect(await breaches(page)).toEqual([]);
  expect(await contrastBreaches(page)).toEqual([]);
  expect(faults).toEqual([]);
});

it('has a page with the search for an unknown path, and colours that a person chooses', async () => {
  const { page } = await dashboard.open('/no/such/page');
  await page.getByText('There is no page /no/such/page').waitFor();
  await page.getByLabel('Colours').selectOption('dark');
  expect(await backgroundOf(page)).toBe('rgb(13, 19, 24)');
  await page.reload();
  await settled(page);
  expect(await backgroundOf(page)).toBe('rgb(13, 19, 24)');
  await page.keyboard.press('/');
  await page.keyboard.type('ALICE');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/owners/${ALICE}`);
});

const found = (page: Page): Locator => page.getByRole('listbox').getByRole('option');

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
  await page.locator('h1:focus', { hasText: 'Snapshots' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('alice');
  await expect.poll(() => found(page).allTextContents()).toEqual([expect.stringContaining(ALICE)]);
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => found(page).first().getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/owners/${ALICE}*`);
  await settled(page);
  await tabTo(/^Export “Holdings now”$/);
  await page.keyboard.press('Enter');
  await page.locator('.command').first().waitFor();
  await tabTo(/^Balance over time: the arrow keys/);
  await page.keyboard.press('Home');
  const reached = '2025-02-12 00:10 UTC: unlocked 500';
  await expect.poll(() => page.getByRole('slider').getAttribute('aria-valuetext')).toContain(reached);
  expect(faults).toEqual([]);
});

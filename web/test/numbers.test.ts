import { spawnSync } from 'node:child_process';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALICE, card, type Dashboard, LARGE, NOBODY, settled, startDashboard } from './dashboard.ts';

type Row = Readonly<Record<string, string | number>>;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(async () => await dashboard?.[Symbol.asyncDispose]());

/** The value next to a name. */
async function figure(within: Locator, name: string): Promise<string> {
  const value = within.locator('.figure', { has: within.page().locator(`dt:text-is("${name}")`) }).locator('dd');
  return (await value.textContent())!;
}

/** The text of the columns of a table's rows, all at once: there may be hundreds. */
async function cells(within: Locator): Promise<string[][]> {
  return await within
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent.trim())));
}

const shown = (time: unknown): string =>
  `${String(time)
    .replace('T', ' ')
    .replace(/(:00)?Z$/, '')} UTC`;

/** The newest snapshot at or before a time. */
async function newestSnapshot(to = '2199-01-01T00:00:00Z'): Promise<Row> {
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>(`/holdfast/v1/snapshots?to=${to}&limit=1`);
  return snapshots[0]!;
}

it('shows the newest snapshot, to the last digit', async () => {
  const { page } = await dashboard.open('/');
  const newest = await newestSnapshot();
  const within = card(page, 'Newest snapshot');
  const values = await within.locator('.figure dd').allTextContents();
  expect(values.map((value) => value.replace(/ .*|Copy.*/, ''))).toEqual(
    [
      ...[newest.total_coin, newest.total_unlocked_coin, newest.total_locked_coin],
      ...[newest.owners, newest.contracts, newest.digest],
    ].map(String),
  );
  expect(await within.locator('time').textContent()).toBe(shown(newest.record_time));
});

it('shows the largest holders page by page, in each order', async () => {
  const { page } = await dashboard.open('/');
  const within = card(page, 'Largest holders');
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
      owner.total_unlocked_coin,
      owner.total_locked_coin,
      owner.total_coin_holdings,
      `${String(owner.share)
        .replace(/^(\d+)\.(\d\d)/, '$1$2.')
        .replace(/^0+(?=\d)/, '')} %`,
    ]);
    expect(rows).toEqual(expected);
  }
});

it('tells each point of the chart exactly, to the keyboard and in the table', async () => {
  const { page } = await dashboard.open('/');
  const within = card(page, 'Supply over time');
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>(
    '/holdfast/v1/snapshots?migration_id=0&order=asc&limit=1000',
  );
  await within.getByRole('slider').focus();
  await page.keyboard.press('Home');
  for (const index of [0, 1, 2]) {
    const { record_time, total_unlocked_coin, total_locked_coin, total_coin } = snapshots[index]!;
    const expected = [shown(record_time), total_unlocked_coin, total_locked_coin, total_coin];
    await expect.poll(() => within.locator('.readout dd').allTextContents()).toEqual(expected);
    await page.keyboard.press('ArrowRight');
  }
  await within.locator('summary').click();
  await within.locator('tbody tr').first().waitFor();
  const rows = await cells(within);
  expect(rows).toEqual(
    snapshots.map((row) => [shown(row.record_time), row.total_unlocked_coin, row.total_locked_coin, row.total_coin]),
  );
});

it('shows how much the supply changed between the snapshots that the ends of the range mean, whatever the step', async () => {
  const { page } = await dashboard.open('/');
  const within = card(page, 'Supply over time');
  const change = within.locator('.change');
  const units = ({ total_coin }: Row): bigint => BigInt(String(total_coin).replace('.', ''));
  const whole = { from: '2025-02-12T00:10', to: String((await newestSnapshot()).record_time).slice(0, 16) };
  for (const { from, to } of [whole, { from: '2025-02-12T00:35', to: '2025-02-14T07:49' }]) {
    await within.getByLabel('From (UTC)').fill(from);
    await within.getByLabel('To (UTC)').fill(to);
    await page.keyboard.press('Tab');
    const [first, last] = [await newestSnapshot(`${from}:00Z`), await newestSnapshot(`${to}:00Z`)];
    const times = [shown(first.record_time), shown(last.record_time)];
    for (const step of ['1h', '6h', '1d']) {
      await within.getByLabel('Step').selectOption(step);
      await expect.poll(() => change.locator('time').allTextContents()).toEqual(times);
      const amount = await change.locator('.amount').textContent();
      expect([step, BigInt(amount!.replace('.', ''))]).toEqual([step, units(last) - units(first)]);
    }
  }
  await within.getByLabel('From (UTC)').fill('2025-02-12T00:05');
  await page.keyboard.press('Tab');
  await change.getByText('No snapshot at or before 2025-02-12 00:05').waitFor();
});

it('shows a point under the pointer, and a range that is drawn over', async () => {
  const { page } = await dashboard.open('/');
  const within = card(page, 'Supply over time');
  const { x, y, width, height } = (await within.locator('.u-over').boundingBox())!;
  const readout = (): Promise<string[]> => within.locator('.readout dd').allTextContents();
  const newest = await readout();
  await page.mouse.move(x + width / 2, y + height / 2);
  await expect.poll(readout).not.toEqual(newest);
  const [time = '', ...amounts] = await readout();
  const record_time = time.replace(' UTC', ':00Z').replace(' ', 'T');
  expect(amounts.at(-1)).toBe((await newestSnapshot(record_time)).total_coin);
  const before = await within.locator('input').first().inputValue();
  await page.mouse.move(x + width / 4, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + width / 2, y + 40, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await within.locator('input').first().inputValue()) > before).toBe(true);
});

it.each([
  [LARGE, '', {}],
  [LARGE, '?at=2025-02-13T12:03:20Z&round=300', { record_time: '2025-02-13T12:03:20Z', as_of_round: 300 }],
  [ALICE, '?at=2025-02-12T00:30:00Z&round=104', { record_time: '2025-02-12T00:30:00Z', as_of_round: 104 }],
  [NOBODY, '', {}],
])('shows what %s has: %s', async (party, query, asked) => {
  const { page } = await dashboard.open(`/owners/${party}${query}`);
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
});

it("ends an owner's chart at the newest snapshot whatever the step, with the total of the header", async () => {
  const { page } = await dashboard.open(`/owners/${LARGE}`);
  const { record_time } = await newestSnapshot();
  const total = await figure(card(page, 'Holdings now'), 'Total');
  const within = card(page, 'Balance over time');
  const step = within.getByLabel('Step');
  for (const every of await step.locator('option').allTextContents()) {
    await step.selectOption(every);
    await settled(page);
    const [time, , , last] = await within.locator('.readout dd').allTextContents();
    expect([every, time, last]).toEqual([every, shown(record_time), total]);
  }
});

it('shows the changes and the contracts of an owner, page by page', async () => {
  const { page } = await dashboard.open(`/owners/${LARGE}`);
  const { changes } = await dashboard.answer<{ changes: Row[] }>(
    `/holdfast/v1/owners/${LARGE}/changes?migration_id=0&limit=20`,
  );
  const contracts = await dashboard.contractsOf(LARGE, { page_size: 20 });
  const [ofChanges, ofContracts] = [card(page, 'Changes'), card(page, 'Contracts')];
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
      ...[row.change_unlocked_coin, row.change_locked_coin, row.total_unlocked_coin, row.total_locked_coin],
      String(row.contracts),
    ]),
  );
  expect(found.contracts).toEqual(contracts);
});

it('lists the snapshots with their digests, and says which one a time means', async () => {
  const { page } = await dashboard.open('/snapshots');
  const { snapshots } = await dashboard.answer<{ snapshots: Row[] }>('/holdfast/v1/snapshots?migration_id=0&limit=20');
  const rows = await cells(card(page, 'Snapshots, newest first'));
  expect(rows.map((row) => [row[0], row[5], row[6]!.replace(/Copy.*$/, '')])).toEqual(
    snapshots.map((row) => [shown(row.record_time), row.total_coin, row.digest]),
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

it('gives for each figure the request that gave it', async () => {
  for (const path of ['/', `/owners/${LARGE}`, '/snapshots']) {
    const { page } = await dashboard.open(path);
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
});

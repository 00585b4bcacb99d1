import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  breaches,
  card,
  cells,
  contrastBreaches,
  type Dashboard,
  expectSaved,
  LARGE,
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

it('shows each point of the supply exactly, under the pointer, to the keyboard and in the table, and its change over a range', async () => {
  const { page } = await dashboard.open('/');
  const within = card(page, 'Total over time');
  await expectSaved(within, 'snapshots?migration_id=0&order=asc&every=10m&format=csv&limit=all');
  const readout = (): Promise<string[]> => within.locator('.readout dd').allTextContents();
  const last = await dashboard.newestSnapshot();
  const newest = await readout();
  const plot = within.locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await plot.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await expect.poll(readout).not.toEqual(newest);
  const [time = '', ...amounts] = await readout();
  expect(amounts.at(-1)).toBe((await dashboard.newestSnapshot(time.replace(' UTC', ':00Z').replace(' ', 'T'))).total);

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
  // Again where the plot has moved in between, as what is above it is drawn.
  await expect
    .poll(async () => {
      await plot.evaluate((element: { scrollIntoView(options: object): void }) =>
        element.scrollIntoView({ block: 'center' }),
      );
      const drawn = (await plot.boundingBox())!;
      await page.mouse.move(drawn.x + width / 4, drawn.y + 20);
      await page.mouse.down();
      await page.mouse.move(drawn.x + width / 2, drawn.y + 40, { steps: 4 });
      await page.mouse.up();
      return (await from.inputValue()) > before;
    })
    .toBe(true);

  for (const end of ['from', 'to']) expect(new URL(page.url()).searchParams.get(end)).toMatch(/T\d\d:\d0:00Z$/);

  const change = within.locator('.change');
  for (const range of [
    { from: '2025-02-12T00:10', to: String(last.record_time).slice(0, 16) },
    { from: '2025-02-12T00:35', to: '2025-02-14T07:49' },
  ]) {
    for (const [label, time] of [
      ['From (UTC)', range.from],
      ['To (UTC)', range.to],
    ] as const) {
      await within.getByLabel(label).fill(time);
      await page.keyboard.press('Enter');
    }
    await expect.poll(() => page.url()).toContain(`from=${range.from}:00Z&to=${range.to}:00Z`);
    const ends = [
      await dashboard.newestSnapshot(`${range.from}:00Z`),
      await dashboard.newestSnapshot(`${range.to}:00Z`),
    ] as const;
    for (const step of ['1h', '1d']) {
      await within.getByLabel('Step').selectOption(step);
      await expect
        .poll(() => change.locator('time').allTextContents())
        .toEqual(ends.map(({ record_time }) => shown(record_time)));
      const amount = await change.locator('.amount').textContent();
      expect([step, BigInt(amount!.replace('.', ''))]).toEqual([step, units(ends[1].total) - units(ends[0].total)]);
    }
  }
  await within.getByLabel('From (UTC)').fill('2025-02-12T00:05');
  await page.keyboard.press('Enter');
  await change.getByText('No snapshot at or before 2025-02-12 00:05').waitFor();
});

it.each([
  ['the supply', '/', 'Total over time', 'snapshots?order=asc&limit=1000'],
  ['an owner', `/owners/${LARGE}`, 'Balance over time', `owners/${LARGE}/history?every=10m`],
])('shows what changed on each day of %s, under an address to keep', async (_, path, title, request) => {
  const { page, faults } = await dashboard.open(path);
  const within = card(page, title);
  await within.getByRole('button', { name: 'Change', exact: true }).click();
  await page.waitForURL(`**${path}?chart=change`);
  await page.reload();
  await settled(page);
  const { snapshots = [], points = snapshots } = await dashboard.answer<Record<'snapshots' | 'points', Row[]>>(
    `/holdfast/v1/${request}`,
  );
  const isKept = ({ record_time }: Row, index: number): boolean =>
    index === 0 || index === points.length - 1 || String(record_time).endsWith('T00:00:00Z');
  const days = points.filter(isKept);
  const changes = days.slice(1).map((after, index) => {
    const before = days[index]!;
    const amounts = ['unlocked', 'locked', 'total'].map((name) => units(after[name]) - units(before[name]));
    return [shown(before.record_time), shown(after.record_time), ...amounts];
  });
  expect(changes.length).toBeGreaterThan(3);
  await within.locator('summary').click();
  await within.locator('tbody tr').first().waitFor();
  expect((await cells(within)).map(([from, to, ...amounts]) => [from, to, ...amounts.map(units)])).toEqual(changes);
  const last = changes.at(-1)!;
  expect(await within.getByRole('slider').getAttribute('aria-valuetext')).toContain(String(last[1]).slice(0, 16));
  expect((await within.locator('.readout .amount').allTextContents()).map(units)).toEqual(last.slice(2));
  expect(await breaches(page)).toEqual([]);
  expect(await contrastBreaches(page)).toEqual([]);
  expect(faults).toEqual([]);
});

it.each(['from', 'to'])('says what is wrong with a range whose "%s" in the address is no time', async (name) => {
  for (const chart of ['total', 'change']) {
    const { page, faults } = await dashboard.open(`/?${name}=yesterday&chart=${chart}`);
    await card(page, 'Total over time').getByText(`${name}: given "yesterday", expected`).waitFor();
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
  }
});

it('shows every page at a time, which a click on the chart chooses and a double click leaves', async () => {
  const { page, faults } = await dashboard.open('/?span=24h&axis=zero');
  const chart = card(page, 'Total over time');
  await chart.getByRole('slider').focus();
  await page.keyboard.press('Home');
  const [reached = ''] = await chart.locator('.readout dd').allTextContents();
  await page.keyboard.press('Enter');
  const time = reached.replace(' UTC', ':00Z').replace(' ', 'T');
  await expect.poll(() => page.url()).toContain(`?span=24h&axis=zero&at=${time}`);
  await settled(page);
  const snapshot = await dashboard.newestSnapshot(time);
  expect(await card(page, 'Snapshot').locator('.figure.large dd').textContent()).toBe(snapshot.total);
  const { owners } = await dashboard.answer<{ owners: Row[] }>(`/holdfast/v1/top?record_time=${time}&limit=10`);
  await expect
    .poll(async () => (await cells(card(page, 'Largest holders'))).map((row) => row[4]))
    .toEqual(owners.map(({ total }) => total));
  await page.getByRole('link', { name: 'Snapshots', exact: true }).click();
  await settled(page);
  expect(new URL(page.url()).search).toBe(`?at=${time}`);
  expect((await cells(page.locator('main')))[0]![0]).toBe(reached);
  await page.goBack();
  await settled(page);
  const plot = chart.locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const { width } = (await plot.boundingBox())!;
  await plot.dblclick({ position: { x: width / 2, y: 60 } });
  await expect.poll(() => new URL(page.url()).searchParams.get('span')).toBe(null);
  await settled(page);
  const drawn = (await plot.boundingBox())!;
  await page.mouse.click(drawn.x + width / 2, drawn.y + 60);
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).not.toBe(time);
  expect(faults).toEqual([]);
});

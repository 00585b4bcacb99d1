import { writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, watchPage } from '../../test/support/http/browser.ts';
import { startService } from '../../test/support/http/service.ts';
import { parseLedger, partyOf } from '../../test/support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';
import { linesOf } from '../../test/support/views/replayed.ts';
import { breaches, card, cells } from './dashboard.ts';

const folder = temporaryDirectory();
const LEDGER = `00:01 : +r round 5 ; +c alice 9 ; +t alice 5 USDC@registry by bob id savings ; +u bob 3 USDC@registry ; +w alice 7 EURC@registry
  00:12 : -u ; +v alice 3 USDC@registry
  00:31 :`;
let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;

beforeAll(async () => {
  const feed = folder.writeLines('tokens.ndjson', linesOf(parseLedger(LEDGER), 'ledger-api'));
  const names = folder.at('instruments.json');
  const name = { admin: partyOf('registry'), id: 'USDC', symbol: 'USDCx', name: 'US dollar coin', decimals: 2 };
  const coin = { admin: partyOf('DSO'), id: 'Amulet', symbol: 'CC', name: 'Canton Coin', decimals: 10 };
  writeFileSync(names, JSON.stringify([name, coin]));
  service = await startService(['--data', folder.at('data'), '--file', feed, '--instruments', names]);
  await service.until('/readyz', (status) => status === 200);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

it('shows the instruments, the holders of the one chosen, and what an owner of it had and moved', async () => {
  const page = await browser.newPage();
  const watched = watchPage(page, service.url);
  await page.goto(`${service.url}/`);
  await page.getByRole('link', { name: 'Tokens' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('Dollar');
  await page.getByRole('option', { name: 'USDC USDCx · US dollar coin' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Largest holders of USDC' }).waitFor();
  await page.getByRole('link', { name: 'Tokens' }).click();
  const instruments = page.getByRole('table', { name: 'The coin and the tokens' });
  await instruments.getByRole('link', { name: 'USDC' }).waitFor();
  await instruments.getByText('USDCx · US dollar coin').waitFor();
  const text = await instruments.textContent();
  expect(text).toContain('followed owners');
  expect(text).not.toContain('the supply');
  await instruments.getByRole('link', { name: 'USDC' }).click();
  const holders = page.getByRole('table', { name: 'Largest holders of USDC' });
  await holders.getByRole('link', { name: 'alice' }).click();
  const movements = page.getByRole('table', { name: 'Movements' });
  await movements.getByRole('row').nth(2).waitFor();
  expect(await movements.textContent()).toContain('bob savings');
  expect(await movements.textContent()).toContain('(empty)');
  expect(new URL(page.url()).searchParams.get('owner')).toBe(partyOf('alice'));
  const chart = page.locator('.card', { hasText: 'USDC of alice over time' });
  await chart.locator('canvas').waitFor();
  await chart.locator('[data-unit="USDCx"]').first().waitFor();
  expect(watched.faults).toEqual([]);
});

it('shows what an owner has of all instruments, and that only followed owners count', async () => {
  const page = await browser.newPage();
  const watched = watchPage(page, service.url);
  await page.goto(`${service.url}/owners/${partyOf('alice')}`);
  const own = page.getByRole('table', { name: 'The coin and the tokens' });
  await own.getByRole('link', { name: 'EURC' }).waitFor();
  const { body } = await service.ask(`/holdfast/v1/owners/${partyOf('alice')}/instruments`);
  const { instruments } = body as { instruments: Readonly<Record<string, string>>[] };
  expect((await cells(own)).map((row) => [row[0], ...row.slice(3)])).toEqual(
    instruments.map((row) =>
      ['id', 'unlocked', 'locked', 'total', 'accounts_total', 'contracts'].map((name) => String(row[name])),
    ),
  );
  await own.getByRole('link', { name: 'USDC' }).click();
  for (const title of ['USDC of alice over time', 'Movements', 'Locks', 'Statement']) await card(page, title).waitFor();
  await card(page, 'Statement').getByRole('row').nth(1).waitFor();
  const { body: statement } = await service.ask(
    `/holdfast/v1/owners/${partyOf('alice')}/statement?every=1mo&instrument_admin=${partyOf('registry')}&instrument_id=USDC`,
  );
  const [month] = (statement as { periods: Readonly<Record<string, string>>[] }).periods;
  expect((await cells(card(page, 'Statement')))[0]!.slice(1, 6)).toEqual(
    ['opening', 'received', 'sent', 'locked_change', 'closing'].map((name) => month![name]),
  );
  expect(await breaches(page)).toEqual([]);
  await page.goto(`${service.url}/`);
  await page.getByText('Of the owners that this service follows, not of all.').waitFor();
  expect(await page.locator('body').textContent()).not.toContain('supply');
  expect(watched.faults).toEqual([]);
});

it('shows what coin is called beside amounts, outside of what is copied, and the titles of cards before their answers', async () => {
  const page = await browser.newPage();
  const watched = watchPage(page, service.url);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/v1/snapshots?limit=1', async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${service.url}/`);
  for (const title of ['Newest snapshot', 'Feed', 'Total over time'])
    await page.locator('[role=status] h2', { hasText: title }).waitFor();
  release();
  const total = page.locator('.figure.large [data-unit="CC"]');
  await total.waitFor();
  expect(await total.textContent()).toBe('9.0000000000');
  expect(await page.locator('footer').textContent()).toContain('in CC');
  expect(watched.faults).toEqual([]);
});

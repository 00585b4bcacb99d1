import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { party } from '../../fixtures/names.ts';
import { launchBrowser } from '../../test/support/http/browser.ts';
import { fixture } from '../../test/support/http/expected-answers.ts';
import { type Service, startService } from '../../test/support/http/service.ts';
import { DSO, ownersIn, participantLedger } from '../../test/support/ledger-api/ledger.ts';
import { startFakeParticipant } from '../../test/support/ledger-api/server.ts';
import { freePorts } from '../../test/support/program/free-ports.ts';
import { freshDirectory } from '../../test/support/program/fresh-directory.ts';
import { freshScan } from '../../test/support/scan/fresh-scan.ts';
import { scanLedger } from '../../test/support/scan/ledger.ts';
import { card, closePages, openPage, settled } from './dashboard.ts';

const STORY = fixture('story.scan.ndjson');
const LINES = readFileSync(STORY, 'utf8').trim().split('\n');
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(() => closePages(browser));
afterAll(async () => await browser?.close());

const data = (): string[] => ['--data', directory.at('data')];

/** The state of the service on a page: in the header, and in the card of the feed. */
interface Shown {
  readonly page: Page;
  readonly header: Locator;
  readonly feed: Locator;
}

const banner = (page: Page): Locator => page.getByRole('region', { name: 'What is wrong' });

async function show({ url }: { readonly url: unknown }): Promise<Shown> {
  const { page } = await openPage(browser, `${url}/`);
  return { page, header: page.locator('header .state'), feed: card(page, 'Feed') };
}

/** Green is the tone `good`. */
async function expectTone({ header, feed }: Shown, tone: 'good' | 'busy' | 'calm' | 'bad'): Promise<void> {
  const classes = () => Promise.all([header, feed.locator('.phase')].map((each) => each.getAttribute('class')));
  await expect.poll(classes).toEqual([`state ${tone}`, `phase ${tone}`]);
}

async function newestTotal(service: Service): Promise<string> {
  const { body } = await service.ask('/holdfast/v1/snapshots?limit=1');
  return (body as { snapshots: [{ total: string }] }).snapshots[0].total;
}

it('follows a feed from before the first snapshot, and says what is wrong with it', async () => {
  const pipe = directory.namedPipe('feed.ndjson');
  await using service = await startService([...data(), '--file', pipe, '--on-bad-update', 'quarantine']);
  const { url } = await service.program.logged('listening');
  const feed = createWriteStream(pipe);
  const overview = await openPage(browser, `${url}/`);
  await overview.page.getByText('No snapshot yet').waitFor();
  await overview.page.getByText('Not ready').first().waitFor();
  feed.write(textOf(LINES.slice(0, 6)));
  const newest = card(overview.page, 'Newest snapshot');
  const supply = newest.locator('.figure.large dd');
  await supply.getByText('750.0100000001', { exact: true }).waitFor();
  const owner = await openPage(browser, `${url}/owners/${party('alice')}?view=snapshots`);
  const holdings = card(owner.page, 'Holdings now').locator('.figure dd');
  const changes = card(owner.page, 'Movements').locator('tbody tr');
  expect(await holdings.nth(2).textContent()).toBe('0.0000000000');
  const changesBefore = await changes.count();

  feed.end(textOf(['{"update_id":', ...LINES.slice(6)]));
  await newest.getByText('2025-02-12 01:10').waitFor();
  await supply.getByText(await newestTotal(service), { exact: true }).waitFor();
  await owner.page.getByText('Snapshot of 2025-02-12 01:10').waitFor();
  await changes.nth(changesBefore).waitFor();
  await expect.poll(() => changes.first().locator('td').first().textContent()).toBe('2025-02-12 01:00 UTC');
  const ofFeed = card(overview.page, 'Feed');
  await banner(overview.page).getByText('1 update is quarantined').waitFor();
  expect(await ofFeed.locator('dd').last().textContent()).toBe('1 quarantined');
  expect([...owner.faults, ...overview.faults.filter((fault) => !fault.includes('404'))]).toEqual([]);
});

it('says what there is without a feed, that the connection is lost, and offers the migrations', async () => {
  const [port] = await freePorts(1);
  const serve = (...args: string[]): Promise<Service> => startService([...data(), '--port', String(port), ...args]);
  const end = async ({ program }: Service): Promise<void> => {
    program.kill('SIGTERM');
    await program.ended;
    await shown.header.getByText('Connection lost, reconnecting').waitFor();
  };
  const says = async (text: string): Promise<void> => {
    for (const each of [shown.header, shown.feed]) await each.getByText(text).waitFor();
    await expectTone(shown, 'calm');
  };
  let service = await serve();
  const shown = await show(service);
  const { page, header } = shown;
  await says('No data · no source');
  const commands = await page.locator('main .command code').allTextContents();
  const options = commands.map((line) => /^holdfast serve (--\S+) /.exec(line)?.[1]);
  expect(options).toEqual(['--scan', '--ledger-api', '--file']);
  await end(service);
  await expectTone(shown, 'bad');

  service = await serve('--file', STORY);
  await says(`Stored data · ${basename(STORY)} has ended`);
  const supply = card(page, 'Newest snapshot').locator('.figure.large dd');
  const before = await newestTotal(service);
  await supply.getByText(before, { exact: true }).waitFor();
  await end(service);
  expect(await supply.textContent()).toContain(before);

  service = await serve('--file', fixture('story-migration.scan.ndjson'));
  await service.until('/readyz', (status) => status === 200);
  await supply.getByText(await newestTotal(service), { exact: true }).waitFor();
  await page.getByLabel('Migration').selectOption('0');
  await supply.getByText(before, { exact: true }).waitFor();
  await end(service);
  service = await serve();
  await says('Stored data · no source');
  expect(await header.textContent()).toMatch(/ · newest snapshot \d+ days ago$/);
  await end(service);
  await using _reader = await serve('--read-only');
  await says('Stored data · written by another process');
});

it('connects again, with its owner, after a proxy answered in place of the service', async () => {
  const [port] = (await freePorts(1)) as [number];
  const serve = () => startService([...data(), '--port', String(port), '--file', STORY]);
  const before = await serve();
  const { page } = await openPage(browser, `http://127.0.0.1:${port}/owners/${party('alice')}`);
  const state = page.locator('header .state');
  await state.getByText('Stored data').waitFor();
  // As a proxy answers without a route to a service.
  let asked = 0;
  const proxy = createServer((_, response) => response.writeHead(404).end(`404 page not found ${++asked}`));
  before.program.kill('SIGTERM');
  await before.program.ended;
  await once(proxy.listen(port, '127.0.0.1'), 'listening');
  await expect.poll(() => asked).toBeGreaterThan(0);
  await state.getByText('Connection lost, reconnecting').waitFor();
  const followed = `stream?owner=${party('alice')}`;
  const again = page.waitForResponse((response) => response.url().includes(followed) && response.status() === 200);
  proxy.closeAllConnections();
  proxy.close();
  await once(proxy, 'close');
  await using _ = await serve();
  await again;
  await state.getByText('Stored data').waitFor();
});

it('shows an owner who is not followed, and one whose participant shows no round: fees are not asked for', async () => {
  const lines = participantLedger(55, 100);
  const [followed, other] = ownersIn(lines) as [string, string];
  await using participant = await startFakeParticipant({ lines });
  const named = ['--ledger-api', participant.url, '--ledger-api-parties', followed, '--dso', DSO];
  await using service = await startService([...data(), ...named, '--migration-id', '0', '--start', 'beginning']);
  await service.until('/readyz', (status) => status === 200);
  const { page } = await openPage(browser, `${service.url}/owners/${other}`);
  await page.getByText('not followed here').first().waitFor();
  await page.locator('header .state.good').waitFor();
  const own = await openPage(browser, `${service.url}/owners/${followed}`);
  await own.page.getByText('No open mining round is known').waitFor();
  await settled(own.page);
  expect(own.requests).not.toContain('/v0/holdings/summary');
});

it('is green only while a source is followed and the service is ready', async () => {
  scan.add(...scanLedger(3, 60));
  const args = ['--scan', scan.url, '--start', 'beginning', '--scan-poll-interval', '100ms', '--ready-lag-max', '3s'];
  await using service = await startService([...data(), ...args]);
  await service.until('/readyz', (status) => status === 200);
  const shown = await show(service);
  const live = /^Live · \d+ s behind · 127\.0\.0\.1:\d+$/;
  for (const each of [shown.header, shown.feed]) await each.getByText(live).waitFor();
  await expectTone(shown, 'good');
  scan.fail('/v2/updates', { status: 500, body: { error: 'out of order' } });
  await shown.header.getByText('Not ready').waitFor();
  await banner(shown.page).getByText('cannot read the network').waitFor();
  await expectTone(shown, 'busy');
  scan.fail('/v2/updates', null);
  await shown.header.getByText(live).waitFor();
  await expect.poll(() => banner(shown.page).count()).toBe(0);
  await expectTone(shown, 'good');
});

it('says on every page that its source cannot be reached, why, and how often', async () => {
  const [port] = await freePorts(1);
  await using service = await startService([...data(), '--scan', `http://127.0.0.1:${port}`]);
  const shown = await show(service);
  const refused = `connect ECONNREFUSED 127.0.0.1:${port}`;
  await banner(shown.page).getByText(refused).first().waitFor();
  await shown.header.getByText('Not ready', { exact: true }).waitFor();
  await shown.feed.getByText('Not ready', { exact: true }).waitFor();
  await expectTone(shown, 'busy');
  await banner(shown.page)
    .getByText(/^\d+ consecutive errors?\. Next attempt /)
    .waitFor();
  const command = `holdfast doctor --scan http://127.0.0.1:${port}/api/scan`;
  await banner(shown.page).getByText(command, { exact: true }).waitFor();
  await shown.page.getByRole('link', { name: 'Snapshots' }).click();
  await banner(shown.page).getByText(refused).first().waitFor();
});

it('says within a narrow screen where and why it is halted, and what to do', async () => {
  const file = directory.at('feed.ndjson');
  // A first file that is no feed at all is refused.
  writeFileSync(file, `${LINES[0]}\n{"transaction":{"update_id":"${'long'.repeat(40)}","migration_id":0}}\n`);
  await using service = await startService([...data(), '--file', STORY, file]);
  const body = await service.until('/status', (_, now) => (now as { phase: string }).phase === 'halted');
  const { reason, next } = (body as { halted: { reason: string; next: string } }).halted;
  const shown = await show(service);
  await shown.page.setViewportSize({ width: 390, height: 844 });
  const alert = banner(shown.page);
  for (const text of [reason, `To continue: ${next.replaceAll('`', '')}`, file]) await alert.getByText(text).waitFor();
  expect(await alert.locator('code').allTextContents()).toEqual([
    'holdfast dead-letters retry',
    'holdfast dead-letters drop 1',
  ]);
  await shown.header.getByText('Halted', { exact: true }).waitFor();
  await expectTone(shown, 'bad');
  for (const element of [shown.page.locator('html'), ...(await alert.locator('p').all())])
    expect(await element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
});

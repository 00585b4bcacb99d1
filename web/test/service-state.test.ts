import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../../test/support/http/browser.ts';
import { fixture } from '../../test/support/http/expected-answers.ts';
import { type Service, startService } from '../../test/support/http/service.ts';
import { freePorts } from '../../test/support/program/free-ports.ts';
import { freshDirectory } from '../../test/support/program/fresh-directory.ts';
import { freshScan } from '../../test/support/scan/fresh-scan.ts';
import { scanLedger } from '../../test/support/scan/ledger.ts';
import { openPage } from './dashboard.ts';

const STORY = fixture('story.scan.ndjson');

const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => await browser?.close());

/** What the page says of the service: in the header, and in the card of the feed. */
interface Shown {
  readonly page: Page;
  readonly header: Locator;
  readonly card: Locator;
}

async function show({ url }: Service, path = '/'): Promise<Shown> {
  const { page } = await openPage(browser, `${url}${path}`);
  return { page, header: page.locator('header .state'), card: page.getByRole('region', { name: 'Feed' }) };
}

/** Green is what has the tone `good`. */
async function toneOf({ header, card }: Shown): Promise<(string | null)[]> {
  return [await header.getAttribute('class'), await card.locator('.phase').getAttribute('class')];
}

const TONE = {
  good: ['state good', 'phase good'],
  busy: ['state busy', 'phase busy'],
  calm: ['state calm', 'phase calm'],
  bad: ['state bad', 'phase bad'],
};

const at = (): string[] => ['--data', directory.at('data')];

it('is green only while a source is followed and the service is ready', async () => {
  scan.add(...scanLedger(3, 60));
  const args = [...at(), '--scan', scan.url, '--start', 'beginning', '--scan-poll-interval', '100ms'];
  await using service = await startService([...args, '--ready-lag-max', '3s']);
  await service.until('/readyz', (status) => status === 200);
  const shown = await show(service);
  const { header, card } = shown;
  await header.getByText('Live', { exact: true }).waitFor();
  await card.getByText('Live', { exact: true }).waitFor();
  await expect.poll(() => toneOf(shown)).toEqual(TONE.good);

  scan.fail('/v2/updates', { status: 500, body: { error: 'out of order' } });
  await header.getByText('Not ready: cannot read the network').waitFor();
  await expect.poll(() => toneOf(shown)).toEqual(TONE.busy);
  scan.fail('/v2/updates', null);
  await header.getByText('Live', { exact: true }).waitFor();
  await expect.poll(() => toneOf(shown)).toEqual(TONE.good);
});

it('says on every page that its source cannot be reached, why, and how often that was so', async () => {
  const [port] = await freePorts(1);
  await using service = await startService([...at(), '--scan', `http://127.0.0.1:${port}`]);
  const shown = await show(service);
  const refused = `connect ECONNREFUSED 127.0.0.1:${port}`;
  await shown.header.getByText(refused).waitFor();
  await shown.card.locator('.warning').getByText(refused).first().waitFor();
  await shown.card.getByText('Not ready', { exact: true }).waitFor();
  await expect.poll(() => toneOf(shown)).toEqual(TONE.busy);
  const errors = shown.card.locator('.figure', { hasText: 'Consecutive errors' }).locator('dd');
  await expect.poll(async () => Number(await errors.textContent())).toBeGreaterThan(2);
  const snapshots = await show(service, '/snapshots');
  await snapshots.header.getByText(refused).waitFor();
});

it('says of data without a source that it is stored, and how old it is', async () => {
  await using service = await startService([...at(), '--file', STORY]);
  await service.until('/readyz', (status) => status === 200);
  const ended = await show(service);
  await ended.header.getByText(`Stored data · ${STORY} has ended`).waitFor();
  await ended.card.getByText(`Stored data · ${STORY} has ended`).waitFor();
  await expect.poll(() => toneOf(ended)).toEqual(TONE.calm);
  service.program.kill('SIGTERM');
  await service.program.ended;
  await ended.header.getByText('Connection lost').waitFor();
  await expect.poll(() => toneOf(ended)).toEqual(TONE.bad);

  for (const [args, text] of [
    [[], 'Stored data · no source'],
    [['--read-only'], 'Stored data · another process writes it'],
  ] as const) {
    await using again = await startService([...at(), ...args]);
    await again.until('/readyz', (status) => status === 200);
    const shown = await show(again);
    await shown.header.getByText(text).waitFor();
    expect(await shown.header.textContent()).toMatch(/ · newest snapshot \d+ days ago$/);
    await shown.card.getByText(text).waitFor();
    await expect.poll(() => toneOf(shown)).toEqual(TONE.calm);
  }
});

it('says of an empty service without a source how to give one', async () => {
  await using service = await startService(at());
  const shown = await show(service);
  await shown.header.getByText('No data · no source').waitFor();
  await shown.card.getByText('No data · no source').waitFor();
  await expect.poll(() => toneOf(shown)).toEqual(TONE.calm);
  const commands = await shown.page.locator('main .note pre').textContent();
  expect(
    commands!
      .split('\n')
      .slice(2)
      .map((command) => command.split(' ').slice(0, 3).join(' ')),
  ).toEqual(['holdfast serve --scan', 'holdfast serve --ledger-api', 'holdfast serve --file']);
});

it('says within a narrow screen where and why it is halted, and what to do', async () => {
  const file = directory.at('feed.ndjson');
  // A first file that is no feed at all is refused.
  const [first] = readFileSync(STORY, 'utf8').split('\n');
  writeFileSync(file, `${first}\n{"transaction":{"update_id":"${'long'.repeat(40)}","migration_id":0}}\n`);
  await using service = await startService([...at(), '--file', STORY, file]);
  const body = await service.until('/status', (_, now) => (now as { phase: string }).phase === 'halted');
  const { reason, next } = (body as { halted: { reason: string; next: string } }).halted;
  const shown = await show(service);
  await shown.page.setViewportSize({ width: 390, height: 844 });
  const alert = shown.card.getByRole('alert');
  await alert.getByText(reason).waitFor();
  await alert.getByText(`To continue: ${next}`).waitFor();
  await alert.getByText(file).waitFor();
  await shown.header.getByText(`Halted: ${reason}`).waitFor();
  await expect.poll(() => toneOf(shown)).toEqual(TONE.bad);
  expect(await shown.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  for (const line of await alert.locator('p').all())
    expect(await line.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
});

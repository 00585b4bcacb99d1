import { createWriteStream, readFileSync, type WriteStream, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { party } from '../../fixtures/names.ts';
import { launchBrowser } from '../../test/support/http/browser.ts';
import { fixture } from '../../test/support/http/expected-answers.ts';
import { startService } from '../../test/support/http/service.ts';
import { freePorts } from '../../test/support/program/free-ports.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';
import { openPage } from './dashboard.ts';

const STORY = readFileSync(fixture('story.scan.ndjson'), 'utf8').trim().split('\n');

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => await browser?.close());

function write(feed: WriteStream, lines: readonly string[]): void {
  feed.write(lines.map((line) => `${line}\n`).join(''));
}

it('follows a feed that goes on, from before the first snapshot', async () => {
  using folder = temporaryDirectory();
  const pipe = folder.namedPipe('feed.ndjson');
  await using service = await startService(['--data', folder.at('data'), '--file', pipe]);
  const { url } = await service.program.logged('listening');
  const feed = createWriteStream(pipe);
  const overview = await openPage(browser, `${url}/`);
  await overview.page.getByText('No snapshots found.').waitFor();
  await overview.page.getByText('Not ready: ').waitFor();
  write(feed, STORY.slice(0, 6));
  const newest = overview.page.getByRole('region', { name: 'Newest snapshot' });
  const supply = newest.locator('.figure.large dd');
  await supply.getByText('750.0100000001', { exact: true }).waitFor();
  const owner = await openPage(browser, `${url}/owners/${party('alice')}`);
  const holdings = owner.page.getByRole('region', { name: 'Holdings now' }).locator('.figure dd');
  const changes = owner.page.getByRole('region', { name: 'Changes' }).locator('tbody tr');
  expect(await holdings.nth(2).textContent()).toBe('0.0000000000');
  const changesBefore = await changes.count();

  feed.end(
    STORY.slice(6)
      .map((line) => `${line}\n`)
      .join(''),
  );
  await service.until('/holdfast/v1/snapshots?limit=1', (_, body) => JSON.stringify(body).includes('T01:10:00Z'));
  await newest.getByText('2025-02-12 01:10').waitFor();
  const { body } = await service.ask('/holdfast/v1/snapshots?limit=1');
  const [{ total_coin }] = (body as { snapshots: [{ total_coin: string }] }).snapshots;
  await supply.getByText(total_coin, { exact: true }).waitFor();
  await owner.page.getByText('At the snapshot of 2025-02-12 01:10').waitFor();
  await changes.nth(changesBefore).waitFor();
  await expect.poll(() => changes.first().locator('td').first().textContent()).toBe('2025-02-12 01:00 UTC');
  expect([...owner.faults, ...overview.faults.filter((fault) => !fault.includes('404'))]).toEqual([]);
});

it('shows that the service is away, and goes on by itself when it is back', async () => {
  using folder = temporaryDirectory();
  const [port] = await freePorts(1);
  const options = ['--data', folder.at('data'), '--port', String(port)];
  const first = await startService([...options, '--file', fixture('story.scan.ndjson')]);
  const { url } = first;
  await first.until('/readyz', (status) => status === 200);
  const { page } = await openPage(browser, `${url}/`);
  await page.locator('header').getByText('Stored data').waitFor();
  const supply = page.getByRole('region', { name: 'Newest snapshot' }).locator('.figure.large dd');
  const before = await supply.textContent();
  first.program.kill('SIGTERM');
  await first.program.ended;
  await page.locator('header').getByText('Connection lost: trying again').waitFor();
  expect(await supply.textContent()).toBe(before);

  await using second = await startService([...options, '--file', fixture('story-migration.scan.ndjson')]);
  await second.until('/readyz', (status) => status === 200);
  await page.locator('header').getByText('Stored data').waitFor();
  // The newest migration is shown, and the other may be chosen.
  const { body } = await second.ask('/holdfast/v1/snapshots?limit=1');
  const [{ total_coin }] = (body as { snapshots: [{ total_coin: string }] }).snapshots;
  await supply.getByText(total_coin, { exact: true }).waitFor();
  await page.getByLabel('Migration').selectOption('0');
  await supply.getByText(before!, { exact: true }).waitFor();
});

it('says what is wrong although the feed goes on', async () => {
  using folder = temporaryDirectory();
  const file = folder.at('feed.ndjson');
  writeFileSync(file, [...STORY.slice(0, 6), '{"update_id":', ...STORY.slice(6)].map((line) => `${line}\n`).join(''));
  const options = ['--data', folder.at('data'), '--file', file, '--on-bad-update', 'quarantine'];
  await using service = await startService(options);
  const { url } = await service.program.logged('listening');
  await service.until('/readyz', (status) => status === 200);
  const { page } = await openPage(browser, `${url}/`);
  const card = page.getByRole('region', { name: 'Feed' });
  await card.getByText('Stored data').waitFor();
  await card.getByText('1 update is quarantined').waitFor();
  expect(await card.locator('dd').last().textContent()).toBe('1 quarantined');
});

it('says why the feed is halted', async () => {
  using folder = temporaryDirectory();
  const pipe = folder.namedPipe('feed.ndjson');
  await using service = await startService(['--data', folder.at('data'), '--file', pipe]);
  const { url } = await service.program.logged('listening');
  const feed = createWriteStream(pipe);
  const { page } = await openPage(browser, `${url}/`);
  write(feed, STORY.slice(0, 6));
  await page.getByRole('region', { name: 'Newest snapshot' }).waitFor();
  feed.end('{"update_id":\n');
  const card = page.getByRole('region', { name: 'Feed' });
  await card.getByText('Halted', { exact: true }).waitFor();
  const { body } = await service.ask('/status');
  const { reason } = (body as { halted: { reason: string } }).halted;
  expect(await card.getByRole('alert').textContent()).toContain(reason);
});

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, watchPage } from '../support/http/browser.ts';
import { type Service, startService } from '../support/http/service.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf } from '../support/views/replayed.ts';

const folder = temporaryDirectory();
const data = folder.at('data');
let service: Service;
let browser: Browser;
let origin = '';

beforeAll(async () => {
  const feed = folder.writeLines('feed.ndjson', linesOf(randomLedger(oddLedger(3, { updates: 200 })), 'scan'));
  service = await startService(['--data', data, '--file', feed]);
  origin = String((await service.program.logged('listening')).url);
  await service.until('/readyz', (status) => status === 200);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** The page with one of its documents shown, and all that it must not do so far. */
async function openPage(document: string): Promise<{ page: Page; faults: string[]; requests: string[] }> {
  const page = await browser.newPage();
  const watched = watchPage(page, origin);
  await page.goto(`${origin}/docs?urls.primaryName=${document}`);
  await page.locator('.opblock').first().waitFor();
  return { page, ...watched };
}

/** Opens an operation, tries it out as the page fills it in, and gives the status and body that are shown. */
async function tryOut(page: Page, operationId: string): Promise<{ status: string; body: string }> {
  const operation: Locator = page.locator(`[id$="-${operationId}"].opblock`);
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response');
  const textOf = async (selector: string): Promise<string> =>
    ((await answer.locator(selector).first().textContent()) ?? '').trim();
  return { status: await textOf('.response-col_status'), body: await textOf('.highlight-code') };
}

it('tries out the operations of the holdings with what the document gives as examples', async () => {
  const { page, faults, requests } = await openPage('Holdings');
  const { body } = await service.ask('/holdfast/v1/top?limit=1');
  const { record_time, owners } = body as { record_time: string; owners: { total: string }[] };
  const summary = await tryOut(page, 'getHoldingsSummaryAtV1');
  expect(summary.status).toBe('200');
  expect(summary.body).toContain(`"total_coin_holdings": "${owners[0]!.total}"`);
  for (const id of ['getDateOfMostRecentSnapshotBefore', 'getOwnerHistory', 'listSnapshots', 'listTopOwners']) {
    const answer = await tryOut(page, id);
    expect([id, answer.status]).toEqual([id, '200']);
    expect(answer.body).toContain(`"record_time": "${record_time}"`);
  }
  expect(requests).toContain('/v1/holdings/summary');
  expect(faults).toEqual([]);
});

it('lists the operations in groups below the header of the dashboard, also on a phone', async () => {
  const { page, faults } = await openPage('Holdings');
  const groups = await page.locator('.opblock-tag .nostyle span, .opblock-tag a span').allTextContents();
  expect(groups).toEqual(['Tables and stream', 'As of Splice Scan', 'As of Splice Scan, superseded', 'Service']);
  await page.setViewportSize({ width: 390, height: 844 });
  const width = await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth);
  expect(width).toBe(390);
  expect(await page.locator('header a', { hasText: 'Overview' }).getAttribute('href')).toBe('./');
  expect(faults).toEqual([]);
});

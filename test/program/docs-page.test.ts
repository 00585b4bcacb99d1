import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, watchPage } from '../support/http/browser.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { type Service, startService } from '../support/http/service.ts';
import { holdfast } from '../support/program/command.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const folder = temporaryDirectory();
const data = folder.at('data');
let service: Service;
let browser: Browser;
let origin = '';

beforeAll(async () => {
  service = await startService(['--data', data, '--file', fixture('story.scan.ndjson')]);
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
  const summary = await tryOut(page, 'getHoldingsSummaryAtV1');
  expect(summary.status).toBe('200');
  expect(summary.body).toContain('"total_coin_holdings": "379.7500000000"');
  const time = await tryOut(page, 'getDateOfMostRecentSnapshotBefore');
  expect(time.status).toBe('200');
  expect(time.body).toContain('"record_time": "2025-02-12T00:30:00Z"');
  expect(requests).toContain('/v1/holdings/summary');
  expect(faults).toEqual([]);
});

it('tries out an operation of the ledger with a token', async () => {
  const { page, faults, requests } = await openPage('Ledger');
  const { stdout: token } = await holdfast('token', '--user', 'participant_admin', '--data', data);
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').fill(token.trim());
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  const record = await tryOut(page, 'getAuthenticatedUser');
  expect(record.status).toBe('200');
  expect(record.body).toContain('"id": "participant_admin"');
  expect(requests).toContain('/v2/authenticated-user');
  expect(faults).toEqual([]);
});

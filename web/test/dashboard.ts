import { readFileSync, writeFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { writeWeeks } from '../../demo/weeks.ts';
import { party } from '../../fixtures/names.ts';
import { launchBrowser, type Watched, watchPage } from '../../test/support/http/browser.ts';
import { fixture } from '../../test/support/http/expected-answers.ts';
import { startService } from '../../test/support/http/service.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';

/** Has coin of both kinds, and many changes. */
export const LARGE = party('aurora-bank');
/** Has coin in the story. */
export const ALICE = party('alice');
/** What the operator calls them. */
const LABELS = { [LARGE]: { name: 'Aurora Bank AG', group: 'Exchanges' }, [ALICE]: { group: 'Exchanges' } };
/** Never had any. */
export const NOBODY = party('nobody');

/** A row of an answer. */
export type Row = Readonly<Record<string, string | number>>;

/** A service with the dashboard, and a browser that looks at it. */
export interface Dashboard extends AsyncDisposable {
  readonly origin: string;
  /** A page in a browser of its own, watched from the start. */
  open(path: string, options?: BrowserContextOptions): Promise<Opened>;
  /** Ends all that are open, which would follow the service on and on. */
  closePages(): Promise<void>;
  /** The answer of a GET, or of a POST of the body. */
  answer<Answer>(path: string, body?: object): Promise<Answer>;
  /** The newest snapshot at or before a time. */
  newestSnapshot(to?: string): Promise<Row>;
  /** The ids of a party's contracts at the newest snapshot, or as the fields of the request say. */
  contractsOf(party: string, fields?: object): Promise<string[]>;
}

export interface Opened extends Watched {
  readonly page: Page;
}

/** Half a week: enough for several pages of everything and for all ranges of a chart but the longest. */
const WEEKS = 0.5;

/** The ledger of the demo, shorter, replayed and served. */
export async function startDashboard(): Promise<Dashboard> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(temporaryDirectory());
  // A long name must not make a page wider than its screen.
  const weeks = folder.at(`weeks-${'long'.repeat(40)}.ndjson`);
  writeWeeks(weeks, WEEKS);
  const files = [fixture('story.scan.ndjson'), weeks];
  const labels = folder.at('labels.json');
  writeFileSync(labels, JSON.stringify(LABELS));
  const args = ['--data', folder.at('data'), '--labels', labels, '--file', ...files];
  const service = starting.use(await startService(args));
  const origin = service.url;
  await service.until('/readyz', (status) => status === 200);
  const browser = await launchBrowser();
  starting.defer(() => browser.close());
  const parts = starting.move();
  const answer = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const { status, body: given } = await service.ask(path, body);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(given)}`);
    return given as Answer;
  };
  return {
    origin,
    open: (path, options) => openPage(browser, `${origin}${path}`, options),
    closePages: () => closePages(browser),
    answer,
    async newestSnapshot(to = '2199-01-01T00:00:00Z') {
      const { snapshots } = await answer<{ snapshots: [Row] }>(`/holdfast/v1/snapshots?to=${to}&limit=1`);
      return snapshots[0];
    },
    async contractsOf(party, fields = {}) {
      const snapshot = { migration_id: 0, record_time: '2199-01-01T00:00:00Z', record_time_match: 'at_or_before' };
      const { created_events } = await answer<{ created_events: { contract_id: string }[] }>('/v0/holdings/state', {
        ...{ ...snapshot, owner_party_ids: [party], page_size: 1000, ...fields },
      });
      return created_events.map(({ contract_id }) => contract_id);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', ...options });
  context.setDefaultTimeout(WAIT_MAX_MS);
  const page = await context.newPage();
  const watched = watchPage(page, new URL(url).origin);
  await page.goto(url);
  await settled(page);
  return { page, ...watched };
}

export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

const WAIT_MAX_MS = 60_000;

/** Effects run after the frame that draws a click or an answer, and may send requests. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))';

/** Until the page has all its answers and sends no further request. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main .card').first().waitFor();
  for (let isQuiet = false, wasQuiet = false; !(isQuiet && wasQuiet); ) {
    await page.evaluate(DRAWN);
    wasQuiet = isQuiet;
    isQuiet = (await page.locator('.loading, [aria-busy="true"]').count()) === 0;
  }
}

/** The card with a heading. */
export function card(page: Page, title: string | RegExp): Locator {
  return page.getByRole('region', { name: title, exact: true });
}

/** Further rows of a table look as the first ones do. */
const FURTHER_ROWS = 'tbody tr:nth-child(n+4)';

/** The violations that axe finds, by rule and element. */
export async function breaches(page: Page, options: object = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    `axe.run({ exclude: [[${JSON.stringify(FURTHER_ROWS)}]] }, ${JSON.stringify(options)})`,
  )) as {
    violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
  };
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
}

/** Rows change their colour with the controls in them. */
const CONTROLS = `:is(a, button, input, select, summary, [role="slider"], [role="option"], tr):not(${FURTHER_ROWS}, ${FURTHER_ROWS} *)`;

/** Where text has too little contrast while every control is hovered and has the focus. */
export async function contrastBreaches(page: Page): Promise<string[]> {
  const browser = await page.context().newCDPSession(page);
  await browser.send('DOM.enable');
  await browser.send('CSS.enable');
  const { root } = await browser.send('DOM.getDocument');
  const { nodeIds } = await browser.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: CONTROLS });
  if (nodeIds.length < 6) throw new Error('the page has no controls');
  const forcedPseudoClasses = ['hover', 'focus', 'focus-visible'];
  for (const nodeId of nodeIds) await browser.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses });
  const found = await breaches(page, { runOnly: ['color-contrast'] });
  // The states end with the session.
  await browser.detach();
  return found;
}

/** The text of the columns of a table's rows, all at once: there may be hundreds. */
export async function cells(within: Locator): Promise<string[][]> {
  return await within
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent.trim())));
}

/** Shows the files and the requests of a card, if it has them. */
export async function openExport(within: Locator): Promise<boolean> {
  const button = within.getByRole('button', { name: /^Export “/ }).first();
  if ((await button.count()) === 0) return false;
  if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
  return true;
}

export const shown = (time: unknown): string =>
  `${String(time)
    .replace('T', ' ')
    .replace(/(:00)?Z$/, '')} UTC`;

/** A share in percent with two decimals, rounded half up. */
export function percentOf({ share }: Row): string {
  const hundredths = (BigInt(String(share).replace('.', '')) + 500_000n) / 1_000_000n;
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

export const units = (amount: unknown): bigint => BigInt(String(amount).replace('.', ''));

/** What a card saves as CSV. */
export async function savedBy(within: Locator, control: 'link' | 'button'): Promise<string> {
  await openExport(within);
  const [download] = await Promise.all([
    within.page().waitForEvent('download'),
    within.getByRole(control, { name: 'CSV' }).first().click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
  return readFileSync(await download.path(), 'utf8');
}

/** A card saves what the same question answers. */
export async function expectSaved(within: Locator, same: string): Promise<void> {
  const text = await savedBy(within, 'link');
  expect(text.split('\r\n').length).toBeGreaterThan(10);
  expect(text).toBe(await (await fetch(new URL(`/holdfast/v1/${same}`, within.page().url()))).text());
}

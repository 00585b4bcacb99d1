import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dashboard, LARGE, NOBODY, startDashboard } from './dashboard.ts';

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(async () => await dashboard?.[Symbol.asyncDispose]());

/** The violations that axe finds, by rule and element. */
async function breaches(page: Page, options: object = {}): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
  };
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target} ${node.failureSummary}`));
}

/** Rows change their colour with the controls in them. */
const CONTROLS = 'a, button, input, select, summary, [role="slider"], [role="option"], tr';

/** Where text has too little contrast while every control is hovered, or has the focus. */
async function contrastBreaches(page: Page, pseudoClasses: readonly string[]): Promise<string[]> {
  const browser = await page.context().newCDPSession(page);
  await browser.send('DOM.enable');
  await browser.send('CSS.enable');
  const { root } = await browser.send('DOM.getDocument');
  const { nodeIds } = await browser.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: CONTROLS });
  expect(nodeIds.length).toBeGreaterThan(5);
  for (const nodeId of nodeIds)
    await browser.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [...pseudoClasses] });
  const found = await breaches(page, { runOnly: ['color-contrast'] });
  // The states end with the session.
  await browser.detach();
  return found;
}

const PAGES = [
  ['the overview', '/'],
  ['an owner', `/owners/${LARGE}`],
  ['an owner at a time', `/owners/${LARGE}?at=2025-02-13T12:00:00Z&round=300`],
  ['an owner who never had coin', `/owners/${NOBODY}`],
  ['what is no address', '/owners/%E0%A4%A'],
  ['the snapshots', '/snapshots'],
] as const;

describe.each([1280, 390])('at %s pixels', (width) => {
  it.each(PAGES)(
    '%s is whole, fits, is accessible in dark and light and does nothing it must not',
    async (_name, path) => {
      const { page, faults } = await dashboard.open(path, { viewport: { width, height: 844 }, colorScheme: 'dark' });
      const curl = page.getByRole('button', { name: /^curl/ });
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        const [cards, overflow, dark] = (await page.evaluate(
          `[document.querySelectorAll('.card').length, document.documentElement.scrollWidth - innerWidth, getComputedStyle(document.body).backgroundColor]`,
        )) as [number, number, string];
        expect(cards).toBeGreaterThanOrEqual(1);
        expect(overflow).toBeLessThanOrEqual(0);
        expect(dark === 'rgb(13, 19, 24)').toBe(colorScheme === 'dark');
        if (colorScheme === 'dark' && (await curl.count()) > 0) await curl.first().click();
        expect(await breaches(page)).toEqual([]);
        // The colours of a narrow screen are the same.
        for (const pseudoClasses of width < 1280 ? [] : [['hover'], ['focus', 'focus-visible']])
          expect(await contrastBreaches(page, pseudoClasses)).toEqual([]);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );
});

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Debian's package puts it; `scripts/setup-browser.sh` installs it. */
const CHROMIUM = '/usr/bin/chromium';
const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';
/** No other name resolves: the page must not need the internet. */
const OFFLINE = 'MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

/** `hosts`: addresses of names. */
export async function launchBrowser(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`this test needs ${CHROMIUM}: apt-get install chromium`);
  const known = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}, `);
  const rules = `--host-resolver-rules=${known.join('')}${OFFLINE}`;
  return await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS.split(' '), rules] });
}

/** What a page requested, and all that it must not do: errors, requests to others, breaches of the policy. */
export interface Watched {
  readonly faults: string[];
  readonly requests: string[];
}

export function watchPage(page: Page, origin: string): Watched {
  const [faults, requests]: [string[], string[]] = [[], []];
  // Breaches of the Content-Security-Policy are errors of the console too.
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const address = new URL(request.url());
    requests.push(address.pathname);
    const isOwn = address.origin === origin || address.protocol === 'data:' || address.protocol === 'blob:';
    if (!isOwn) faults.push(`a request to ${request.url()}`);
  });
  return { faults, requests };
}

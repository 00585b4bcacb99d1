import { hash } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeScan, startFakeScan } from '../../demo/local-scan.ts';
import {
  PROXIES,
  type ProxyAnswer,
  type RunningProxy,
  startProxy,
  VERSIONS,
} from '../../test/support/deploy/proxies.ts';
import { launchBrowser } from '../../test/support/http/browser.ts';
import { openStream } from '../../test/support/http/event-stream.ts';
import { type Service, startService } from '../../test/support/http/service.ts';
import { parseLedger, partyOf } from '../../test/support/ledger/parse-ledger.ts';
import { freshDirectory } from '../../test/support/program/fresh-directory.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';
import { linesOf } from '../../test/support/views/replayed.ts';
import { card, closePages, openPage } from './dashboard.ts';

const ALICE = partyOf('alice');
const KEY = 'holdfast_key-of-this-test';
/** The limit of Holdfast. */
const STREAMS_OF_ADDRESS = 20;

const folder = temporaryDirectory();
const parts = new AsyncDisposableStack();
parts.use(folder);
let scan: FakeScan;
let service: Service;
let upstream: number;
let browser: Browser;
let hour = 1;

beforeAll(async () => {
  const lines = linesOf(parseLedger('00:01 : +a alice 10\n00:11 : +b bob 20\n00:21 : +c carol 1'), 'scan');
  scan = parts.use(await startFakeScan({ dso: 'DSO::1220ab', migrationId: 0, lines }));
  const entry = { name: 'test', sha256: hash('sha256', KEY), perMinute: 1_000_000 };
  const file = folder.writeLines('api-keys.ndjson', [JSON.stringify(entry)]);
  const source = ['--scan', scan.url, '--start', 'beginning', '--scan-poll-interval', '100ms'];
  const proxy = ['--trusted-proxies', '127.0.0.1', '--metrics-address', '127.0.0.1:0', '--api-keys-file', file];
  service = parts.use(await startService(['--data', folder.at('data'), ...source, ...proxy]));
  upstream = Number(new URL(service.url).port);
  await service.until('/readyz', (status) => status === 200);
  browser = await launchBrowser({ 'holdfast.example': '127.0.0.1' });
  parts.defer(() => browser.close());
});
afterEach(() => closePages(browser));
afterAll(() => parts.disposeAsync());

/** An update that changes what alice has, an hour after the last. */
function addUpdate(): string {
  const [clock, id] = [`${String(hour++).padStart(2, '0')}:05`, `new-${hour}`];
  scan.add(...linesOf(parseLedger(`${clock} =${id} : +${id} alice 1`), 'scan'));
  return id;
}

const AUTHORIZED = { authorization: `Bearer ${KEY}` };

describe.each(PROXIES)('behind %s', (name) => {
  const directory = freshDirectory();
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(name, { upstream, folder: parts.use(temporaryDirectory()) });
  });
  afterAll(() => proxy[Symbol.asyncDispose]());
  const opened: Disposable[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each[Symbol.dispose]();
  });

  async function ask(...asked: Parameters<RunningProxy['ask']>): Promise<ProxyAnswer> {
    const answer = await proxy.ask(...asked);
    await answer.ended;
    return answer;
  }

  it.each(VERSIONS)('answers over TLS by %s as Holdfast does, to who has a key', async (version) => {
    const path = '/holdfast/v1/top?migration_id=0&record_time=2025-02-12T00:20:00Z';
    const direct = await fetch(`${service.url}${path}`, { headers: AUTHORIZED });
    const answer = await ask(path, { version, headers: AUTHORIZED });
    expect([answer.status, answer.text()]).toEqual([200, await direct.text()]);
    for (const header of ['etag', 'cache-control', 'content-type'])
      expect(answer.headers[header]).toBe(direct.headers.get(header));
    const body = JSON.stringify({ migration_id: 0, record_time: '2025-02-12T00:20:00Z', owner_party_ids: [ALICE] });
    const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
    const summary = await ask('/v1/holdings/summary', { version, method: 'POST', headers, body });
    expect(JSON.parse(summary.text())).toMatchObject({ summaries: [{ total_coin_holdings: '10.0000000000' }] });
    const refused = await ask(path, { version });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="Holdfast", charset="UTF-8", Bearer realm="Holdfast"',
    ]);
  });

  it.each(VERSIONS)('hides what is for those who run it, by %s', async (version) => {
    const users = ['/v2/users', '/v2/users/alice/rights', '/v2/idps', '/v2/authenticated-user'];
    const odd = [
      '//v2/users',
      '/v2//users',
      '/%76%32/users',
      '/v2/%75sers',
      '/x/../v2/users',
      '/v2/./users',
      '/v2%2fusers',
    ];
    for (const path of ['/metrics', '/metrics?x', ...users, ...odd]) {
      const { status } = await ask(path, { version, headers: AUTHORIZED });
      expect([path, [400, 404].includes(status)]).toEqual([path, true]);
    }
    expect((await ask('/status', { version, headers: AUTHORIZED })).status).toBe(200);
    expect((await ask('/readyz', { version })).status).toBe(200);
  });

  it.each(VERSIONS)('refuses a large body by %s', async (version) => {
    const statusOf = async (bytes: number, isSent: boolean): Promise<number> => {
      const headers = { ...AUTHORIZED, 'content-type': 'application/json', 'content-length': String(bytes) };
      const body = isSent ? ' '.repeat(bytes) : null;
      const answer = await proxy.ask('/v1/holdings/summary', { version, method: 'POST', headers, body });
      opened.push(answer);
      return answer.status;
    };
    // Nothing of it is waited for.
    expect(await statusOf(2_000_000, false)).toBe(413);
    expect(await statusOf(900_000, true)).toBe(400);
  });

  it('passes each event of a stream on at once, by either version', async () => {
    const path = `/holdfast/v1/stream?events=movements,snapshots&owner=${encodeURIComponent(ALICE)}`;
    const streams = await Promise.all(VERSIONS.map((version) => proxy.ask(path, { version, headers: AUTHORIZED })));
    opened.push(...streams);
    for (const { status, headers, text } of streams) {
      expect([status, headers['content-type'], headers['content-encoding']]).toEqual([
        200,
        'text/event-stream',
        undefined,
      ]);
      await expect.poll(text).toContain('event: snapshot');
    }
    for (let i = 0; i < 2; i++) {
      const id = addUpdate();
      for (const { text } of streams) await expect.poll(text).toContain(`"update_id":"${id}"`);
    }
  });

  /** An address of this machine for each test. */
  const clientAt = (number: number): string => `127.0.${PROXIES.indexOf(name) + 1}.${number}`;

  it('names the client to Holdfast, which believes nobody else and no header of the client', async () => {
    const stream = async (from: string, forwarded?: string): Promise<number> => {
      const headers = { ...AUTHORIZED, ...(forwarded && { 'x-forwarded-for': forwarded }) };
      const answer = await proxy.ask('/holdfast/v1/stream', { from, headers });
      opened.push(answer);
      return answer.status;
    };
    const all = (from: string, count: number): Promise<number[]> =>
      Promise.all(Array.from({ length: count }, (_, i) => stream(from, `10.0.0.${i}`)));
    expect(await all(clientAt(1), STREAMS_OF_ADDRESS)).toEqual(Array(STREAMS_OF_ADDRESS).fill(200));
    expect(await stream(clientAt(1))).toBe(503);
    expect(await stream(clientAt(1), clientAt(2))).toBe(503);
    expect(await stream(clientAt(2), `${clientAt(1)}, 127.0.0.1`)).toBe(200);
    const direct = async (i: number): Promise<number> => {
      const headers = { ...AUTHORIZED, 'x-forwarded-for': `10.0.1.${i}` };
      const answer = await openStream(service.url, { localAddress: clientAt(3), headers });
      opened.push(answer);
      return answer.status;
    };
    for (let i = 0; i < STREAMS_OF_ADDRESS; i++) expect(await direct(i)).toBe(200);
    expect(await direct(99)).toBe(503);
  });

  it.each(['', '/ledger'])(
    'has the dashboard, for which a browser asks for the key, and which stays live, below "%s"',
    async (below) => {
      await using own = below === '' ? null : await startProxy(name, { upstream, folder: directory, below });
      const { url } = own ?? proxy;
      const httpCredentials = { username: 'anybody', password: KEY };
      const { page, faults, requests } = await openPage(browser, `${url}/`, {
        ignoreHTTPSErrors: true,
        httpCredentials,
      });
      const supply = card(page, 'Newest snapshot').locator('.figure.large dd');
      const before = await supply.textContent();
      addUpdate();
      await expect.poll(() => supply.textContent()).not.toBe(before);
      expect(requests).toContain(`${below}/holdfast/v1/stream`);
      expect(faults).toEqual([]);
      if (own !== null) {
        const hidden = await own.ask('/v2/users', { headers: AUTHORIZED });
        expect(hidden.status).toBe(404);
        expect((await own.ask('/version', { headers: AUTHORIZED })).status).toBe(200);
      }
      // An address with the key in it, such as that of a screen on a wall.
      const named = await openPage(browser, `${url.replace('://', `://anybody:${KEY}@`)}/`, {
        ignoreHTTPSErrors: true,
      });
      await expect.poll(() => named.page.locator('header .state').textContent()).toMatch(/^Live/);
      expect(named.faults).toEqual([]);
      const stranger = await browser.newContext({ ignoreHTTPSErrors: true });
      // As a person who asks for no key again.
      await expect((await stranger.newPage()).goto(`${url}/`)).rejects.toThrow('ERR_INVALID_AUTH_CREDENTIALS');
    },
  );
});

it('behind nginx each client has a limit', async () => {
  using own = temporaryDirectory();
  await using proxy = await startProxy('nginx', { upstream, folder: own });
  const statusOf = async (from: string): Promise<number> => {
    using answer = await proxy.ask('/livez', { from });
    return answer.status;
  };
  const burst = () => Promise.all(Array.from({ length: 150 }, () => statusOf('127.0.0.14')));
  await expect.poll(burst).toContain(429);
  expect(await statusOf('127.0.0.15')).toBe(200);
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openDashboard } from '../../src/http/web-pages.ts';
import { startService } from '../../test/support/http/service.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';

const PARTY = 'alice%20b::1220ab';
const PAGES = [
  '/',
  '/snapshots',
  '/snapshots/0/2025-02-12T00%3A30%3A00Z',
  '/tokens',
  '/owners',
  `/owners/${PARTY}`,
  '/updates/1220ab',
];
/** Bytes that a browser loads before it shows anything. */
const SCRIPT_BYTES_MAX = 100_000;

it('serves the pages and what they load, with the headers for browsers and proxies', async () => {
  using folder = temporaryDirectory();
  const data = folder.at('data');
  await using writer = await startService(['--data', data, '--dashboard', 'off']);
  const refused = await fetch(`${writer.url}/`);
  expect([refused.status, await refused.json()]).toEqual([404, { error: 'no such path: /; /docs has all of them' }]);
  await using reader = await startService(['--data', data, '--read-only', '--dashboard', 'on']);
  for (const path of PAGES) {
    const response = await fetch(`${reader.url}${path}`);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const policy = response.headers.get('content-security-policy')!.split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*|data:/);
    const html = await response.text();
    expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|\bon\w+=/);
    // The page finds its assets under any path of a proxy.
    const base = /<base href="([^"]+)">/.exec(html)![1]!;
    expect(new URL(base, `http://proxy/ledger${path}`).pathname).toBe('/ledger/');
  }

  const asPerson = { headers: { accept: 'text/html,*/*' } };
  const unknown = await fetch(`${reader.url}/a/b/%22x`, asPerson);
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await unknown.text()).toContain('<base href="../../">');
  expect((await fetch(`${reader.url}/a/b`)).headers.get('content-type')).toContain('json');
  expect((await fetch(`${writer.url}/a/b`, asPerson)).headers.get('content-type')).toContain('json');
  expect(await (await fetch(`${reader.url}/labels.json`)).json()).toEqual({});

  const page = await (await fetch(reader.url)).text();
  const assets = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => path!);
  expect(assets.map((path) => path.replace(/-[0-9a-f]{16}\./, '.')).sort()).toEqual([
    'assets/icon.svg',
    'assets/page.css',
    'assets/page.js',
  ]);
  for (const path of assets) {
    const load = (encodings: string) => fetch(`${reader.url}/${path}`, { headers: { 'accept-encoding': encodings } });
    const [plain, compressed] = [await load('br, gzip;q=0'), await load('br, gzip')];
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    const text = await plain.text();
    expect(await compressed.text()).toBe(text);
    expect(gzipSync(text).length).toBeLessThan(SCRIPT_BYTES_MAX);
  }
});

it('answers 503 and says what to do if the dashboard was not built', () => {
  using folder = temporaryDirectory();
  mkdirSync(folder.at('web'));
  const { routes, notFound } = openDashboard({ folder: folder.at('web'), labels: {}, instruments: [] });
  expect(notFound(null as never)).toBeUndefined();
  expect(routes.length).toBe(PAGES.length);
  for (const { handle } of routes)
    expect(() => handle(null as never)).toThrow(
      expect.objectContaining({ status: 503, message: expect.stringContaining('npm run build') }),
    );
});

it('is in the package, with what it loads', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
  const packed = JSON.stringify(JSON.parse(stdout));
  const assets = readdirSync('dist/web/assets').map((name) => `assets/${name}`);
  for (const name of ['index.html', 'licenses.txt', ...assets]) expect(packed).toContain(`"dist/web/${name}"`);
});

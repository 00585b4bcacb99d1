import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { createMetrics } from '../../src/http/server/metrics.ts';
import { addRoutes } from '../../src/http/server/routes.ts';
import { startService } from '../../test/support/http/service.ts';
import { temporaryDirectory } from '../../test/support/program/temporary-directory.ts';

const PARTY = 'alice%20b::1220ab';
const PAGES = ['/', '/snapshots', `/owners/${PARTY}`];
/** Bytes that a browser loads before it shows anything. */
const SCRIPT_BYTES_MAX = 100_000;

function appOf(folder?: string): Hono {
  const app = new Hono();
  const routes = dashboardRoutes(folder);
  addRoutes(app, routes, { logger: pino({ level: 'silent' }), metrics: createMetrics().requests });
  return app;
}

/** What a page loads, as paths from the root. */
async function assetsOf(app: Hono): Promise<string[]> {
  const page = await (await app.request('/')).text();
  return [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => `/${path}`);
}

describe('the dashboard', () => {
  it.each(PAGES)('is served at %s under a policy without anything inline or foreign', async (path) => {
    const response = await appOf().request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const policy = response.headers.get('content-security-policy')!.split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*|data:/);
    expect(await response.text()).not.toMatch(/<style|style=|<script(?![^>]* src=)|\bon\w+=/);
  });

  it('finds what it loads from every page, under any path of a proxy', async () => {
    const app = appOf();
    for (const path of PAGES) {
      const html = await (await app.request(path)).text();
      const base = /<base href="([^"]+)">/.exec(html)![1]!;
      expect(new URL(base, `http://proxy/ledger${path}`).pathname).toBe('/ledger/');
    }
  });

  it('loads a script, a style and an icon, which browsers may keep for ever', async () => {
    const app = appOf();
    const assets = await assetsOf(app);
    expect(assets.map((path) => path.replace(/-[0-9a-f]{16}\./, '.')).sort()).toEqual([
      '/assets/icon.svg',
      '/assets/page.css',
      '/assets/page.js',
    ]);
    for (const path of assets) {
      const response = await app.request(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
  });

  it('comes compressed to who accepts that, with the same content', async () => {
    const app = appOf();
    const script = (await assetsOf(app)).find((path) => path.endsWith('.js'))!;
    const plain = await app.request(script, { headers: { 'accept-encoding': 'br, gzip;q=0' } });
    const compressed = await app.request(script, { headers: { 'accept-encoding': 'br, gzip' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    const bytes = gunzipSync(await compressed.arrayBuffer());
    expect(bytes.equals(Buffer.from(await plain.arrayBuffer()))).toBe(true);
  });

  it(`has at most ${SCRIPT_BYTES_MAX} bytes of script, compressed`, async () => {
    const app = appOf();
    const scripts = (await assetsOf(app)).filter((path) => path.endsWith('.js'));
    const texts = await Promise.all(scripts.map(async (path) => await (await app.request(path)).text()));
    expect(texts.join('').length).toBeGreaterThan(10_000);
    expect(gzipSync(texts.join('')).length).toBeLessThan(SCRIPT_BYTES_MAX);
  });

  it.each(PAGES)('that was not built answers 503 at %s and says what to do', async (path) => {
    using folder = temporaryDirectory();
    mkdirSync(folder.at('web'));
    const response = await appOf(folder.at('web')).request(path);
    expect(response.status).toBe(503);
    expect(((await response.json()) as { error: string }).error).toContain('npm run build');
  });

  it('is in the package, with what it loads', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json'], { encoding: 'utf8' });
    const packed = JSON.stringify(JSON.parse(stdout));
    for (const name of [
      'index.html',
      'licenses.txt',
      ...readdirSync('dist/web/assets').map((each) => `assets/${each}`),
    ])
      expect(packed).toContain(`"dist/web/${name}"`);
  });
});

describe('a service', () => {
  it('has the dashboard, also where it only reads, and leaves it out where that is set', async () => {
    using folder = temporaryDirectory();
    const data = folder.at('data');
    await using writer = await startService(['--data', data, '--dashboard', 'off']);
    const { url } = await writer.program.logged('listening');
    const refused = await fetch(`${url}/`);
    expect([refused.status, await refused.json()]).toEqual([404, { error: 'no such path: /' }]);
    await using reader = await startService(['--data', data, '--read-only', '--dashboard', 'on']);
    const { url: readerUrl } = await reader.program.logged('listening');
    expect((await fetch(`${readerUrl}/owners/${PARTY}`)).status).toBe(200);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { get, HttpFault, type Route } from './routing.ts';

/** Where `npm run build` puts the page, whether this file runs from src/ or from dist/. */
const BUILT = join(import.meta.dirname, '../../dist/web');

/** The pages by their paths, with the way from each to the root: addresses are relative to it, so that a proxy may serve us under a path of its own. */
const PAGES = { '/': './', '/snapshots': './', '/owners/{party}': '../' } as const;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The page needs only our own origin, and may load nothing else; no script and no style is inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/** The dashboard and what it loads, read once. In a checkout that was not built its pages say what to do. */
export function dashboardRoutes(folder = BUILT): readonly Route[] {
  if (!existsSync(join(folder, 'index.html'))) return Object.keys(PAGES).map((path) => get(path, unbuilt));
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const assets = join(folder, 'assets');
  return [
    ...Object.entries(PAGES).map(([path, base]) => {
      const html = Buffer.from(page.replace('<base href="./">', `<base href="${base}">`));
      return get(path, sender(html, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' }));
    }),
    ...readdirSync(assets).map((name) => {
      const type = TYPES[name.split('.').at(-1)!]!;
      const headers = { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' };
      return get(`/assets/${name}`, sender(readFileSync(join(assets, name)), headers));
    }),
  ];
}

function unbuilt(): never {
  throw new HttpFault(503, 'the dashboard is not built: run `npm run build`, then start the service again');
}

/** The same bytes for all: a slow client does not keep a copy of its own in memory. */
function sender(file: Buffer<ArrayBuffer>, own: Readonly<Record<string, string>>): Route['handle'] {
  const compressed = gzipSync(file, { level: 9 });
  const headers = {
    ...own,
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Encoding',
  };
  return (c) =>
    acceptsGzip(c)
      ? new Response(compressed, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
      : new Response(file, { headers });
}

function acceptsGzip(c: Context): boolean {
  return /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?(?:[\s,]|$))/i.test(c.req.header('accept-encoding') ?? '');
}

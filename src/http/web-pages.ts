import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { lazy } from '../lazy.ts';
import { get, HttpFault, type Route } from './routing.ts';

/** An OpenAPI document and where it is served. */
export interface ServedDocument {
  readonly name: string;
  /** Such as /openapi/holdings.json. */
  readonly path: string;
  /** The same bytes for all as long as they are right: a slow client does not keep a copy of its own in memory. */
  readonly read: () => Promise<Bytes>;
}

type Bytes = Uint8Array<ArrayBuffer>;

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
} as const;

/** A page needs only our own origin, and may load nothing else. */
function securityPolicy(style: string, images: string, more: string): Readonly<Record<string, string>> {
  const policy = `default-src 'none'; script-src 'self'; style-src ${style}; img-src ${images}; connect-src 'self'; ${more}frame-ancestors 'none'`;
  return { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' };
}

const API_PAGE_HEADERS = securityPolicy("'self' 'unsafe-inline'", "'self' data:", '');
/** No script and no style is inline. */
const DASHBOARD_HEADERS = {
  ...securityPolicy("'self'", "'self'", "base-uri 'self'; form-action 'none'; "),
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
};

/** Where `npm run build` puts the API page, whether this file runs from src/ or from dist/. */
const BUILT_API_PAGE = join(import.meta.dirname, '../../dist/api-page');
const API_ASSETS = [
  'swagger-ui.css',
  'page.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'icon.svg',
];

/** The API page and the documents that it shows. Its addresses are relative, so that it also works below a path of a proxy. */
export function docsRoutes(documents: readonly ServedDocument[]): readonly Route[] {
  const served = documents.map(({ path, read }) => get(path, async () => send(await read(), 'json')));
  if (!existsSync(join(BUILT_API_PAGE, 'index.html'))) return [get('/docs', unbuilt), ...served];
  const file = (name: string): Route['handle'] => {
    const headers = { 'Content-Type': TYPES[endingOf(name)], 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };
    const sendFile = lazy(() => sender(readFileSync(join(BUILT_API_PAGE, name)), headers, API_PAGE_HEADERS));
    return (c) => sendFile()(c);
  };
  return [
    get('/docs', file('index.html')),
    get('/docs/start.js', () => send(startScript(documents), 'js')),
    ...API_ASSETS.map((name) => get(`/docs/${name}`, file(name))),
    ...served,
  ];
}

function send(body: string | Bytes, type: keyof typeof TYPES): Response {
  return new Response(body, { headers: { 'Content-Type': TYPES[type], ...API_PAGE_HEADERS } });
}

function endingOf(name: string): keyof typeof TYPES {
  return name.split('.').at(-1) as keyof typeof TYPES;
}

function startScript(documents: readonly ServedDocument[]): string {
  const urls = documents.map(({ name, path }) => ({ name, url: path.slice(1) }));
  return `window.ui = SwaggerUIBundle({
  urls: ${JSON.stringify(urls)},
  dom_id: '#swagger-ui',
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
  validatorUrl: null,
});
`;
}

/** Where `npm run build` puts the page, whether this file runs from src/ or from dist/. */
const BUILT = join(import.meta.dirname, '../../dist/web');

const PAGES = [
  ...['/', '/snapshots', '/snapshots/{migration}/{time}'],
  ...['/tokens', '/owners', '/owners/{party}', '/updates/{id}'],
];

/** The dashboard, what it loads, and its page for paths that do not exist. */
interface Dashboard {
  readonly routes: readonly Route[];
  /** Undefined where it was not built. */
  readonly notFound: (c: Context) => Response | undefined;
}

/** Reads all files once. In a checkout that was not built the pages say what to do. */
export function openDashboard({
  folder = BUILT,
  labels,
  instruments,
}: {
  folder?: string;
  labels: object;
  instruments: readonly object[];
}): Dashboard {
  if (!existsSync(join(folder, 'index.html')))
    return { routes: PAGES.map((path) => get(path, unbuilt)), notFound: () => undefined };
  const index = readFileSync(join(folder, 'index.html'), 'utf8');
  /** The page says the way to the root: addresses are relative to it, so that a proxy may serve us under a path of its own. */
  const page = (path: string) => Buffer.from(index.replace('<base href="./">', `<base href="${rootFrom(path)}">`));
  const ofPage = { 'Content-Type': TYPES.html, 'Cache-Control': 'no-cache' };
  const assets = join(folder, 'assets');
  const json = { 'Content-Type': TYPES.json, 'Cache-Control': 'no-cache' };
  return {
    routes: [
      ...PAGES.map((path) => get(path, sender(page(path), ofPage))),
      get('/instruments.json', sender(Buffer.from(JSON.stringify({ instruments })), json)),
      get('/labels.json', sender(Buffer.from(JSON.stringify(labels)), json)),
      ...readdirSync(assets).map((name) => {
        const headers = {
          'Content-Type': TYPES[endingOf(name)],
          'Cache-Control': 'public, max-age=31536000, immutable',
        };
        return get(`/assets/${name}`, sender(readFileSync(join(assets, name)), headers));
      }),
    ],
    notFound: (c) =>
      new Response(page(c.req.path), { status: 404, headers: { ...ofPage, ...DASHBOARD_HEADERS, Vary: 'Accept' } }),
  };
}

function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}

function unbuilt(): never {
  throw new HttpFault(503, 'the pages are not built: run `npm run build`, then start the service again');
}

/** The same bytes for all: a slow client does not keep a copy of its own in memory. */
function sender(
  file: Buffer<ArrayBuffer>,
  own: Readonly<Record<string, string>>,
  policy: Readonly<Record<string, string>> = DASHBOARD_HEADERS,
): Route['handle'] {
  const compressed = gzipSync(file, { level: 9 });
  const headers = { ...own, ...policy };
  return (c) =>
    acceptsGzip(c)
      ? new Response(compressed, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
      : new Response(file, { headers });
}

function acceptsGzip(c: Context): boolean {
  return /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?(?:[\s,]|$))/i.test(c.req.header('accept-encoding') ?? '');
}

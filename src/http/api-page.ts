import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { get, type Route } from './routing.ts';

/** An OpenAPI document and where it is served. */
export interface ServedDocument {
  readonly name: string;
  /** Such as /openapi/holdings.json. */
  readonly path: string;
  /** The same bytes for all as long as they are right: a slow client does not keep a copy of its own in memory. */
  readonly read: () => Promise<Bytes>;
}

type Bytes = Uint8Array<ArrayBuffer>;

const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

/** The page needs only our own origin, and may load nothing else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** Addresses are relative, so that the page also works behind a proxy that serves us under a path of its own. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Holdfast API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/swagger-ui-standalone-preset.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** The API page and the documents that it shows. */
export function docsRoutes(documents: readonly ServedDocument[]): readonly Route[] {
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return [
    get('/docs', () => send(PAGE, 'text/html; charset=utf-8')),
    get('/docs/start.js', () => send(startScript(documents), 'text/javascript; charset=utf-8')),
    ...Object.entries(ASSETS).map(([name, type]) => {
      /** Read once and the same bytes for all: a slow client does not keep a copy of its own in memory. */
      let bytes: Bytes | undefined;
      return get(`/docs/${name}`, () => {
        bytes ??= readFileSync(join(assets, name));
        return send(bytes, type);
      });
    }),
    ...documents.map(({ path, read }) => get(path, async () => send(await read(), 'application/json'))),
  ];
}

function send(body: string | Bytes, type: string): Response {
  const headers = {
    'Content-Type': type,
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'X-Content-Type-Options': 'nosniff',
  };
  return new Response(body, { headers });
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

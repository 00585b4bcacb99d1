import { afterAll, describe, expect, test } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post, storyWithoutRounds } from '../support/http/holdings-service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const service = openHoldings(dataDir);
const { app } = service;
afterAll(() => service[Symbol.dispose]());

const GOOD = { migration_id: 0, record_time: '2025-02-12T00:10:00Z', owner_party_ids: ['alice::1220ab'] };

describe('a deprecated operation', () => {
  test.each([
    ['/v0/holdings/summary', '/v1/holdings/summary'],
    ['/api/scan/v0/holdings/summary', '/api/scan/v1/holdings/summary'],
    ['/api/validator/v0/scan-proxy/holdings/summary', '/api/validator/v1/scan-proxy/holdings/summary'],
    ['/v0/holdings/state', '/v2/holdings/state'],
    ['/v1/holdings/state', '/v2/holdings/state'],
    ['/api/scan/v0/holdings/state', '/api/scan/v2/holdings/state'],
    ['/api/scan/v1/holdings/state', '/api/scan/v2/holdings/state'],
  ])('%s names its successor, which is served', async (path, successor) => {
    const body = { ...GOOD, page_size: 1 };
    const response = await post(app, path, body, { origin: 'https://explorer.example' });
    expect(response.headers.get('deprecation')).toMatch(/^@\d{10}$/);
    expect(response.headers.get('link')).toBe(`<${successor}>; rel="successor-version"`);
    expect(response.headers.get('access-control-expose-headers')).toBe('Deprecation, Link');
    expect((await post(app, successor, body)).status).toBe(200);
  });

  test.each(['/v1/holdings/summary', '/v2/holdings/state', '/api/validator/v1/scan-proxy/holdings/summary'])(
    'is not %s',
    async (path) => {
      expect((await post(app, path, { ...GOOD, page_size: 1 })).headers.has('deprecation')).toBe(false);
    },
  );
});

describe('pages of other origins', () => {
  const preflight = async (path: string, headers: Record<string, string>, to = app): Promise<Response> =>
    to.request(path, { method: 'OPTIONS', headers });
  const asks = { origin: 'https://explorer.example', 'access-control-request-method': 'POST' };

  test.each(['/v0/holdings/summary', '/v2/holdings/state', '/api/validator/v0/scan-proxy/holdings/summary'])(
    'may ask for a read operation: %s',
    async (path) => {
      const response = await preflight(path, {
        ...asks,
        'access-control-request-headers': 'content-type,x-more',
      });
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers': 'content-type,x-more',
      });
      expect(await response.text()).toBe('');
    },
  );

  test('may read answers and faults', async () => {
    for (const body of [GOOD, {}])
      for (const path of ['/v1/holdings/summary', '/api/validator/v1/scan-proxy/holdings/summary']) {
        const response = await post(app, path, body, { origin: 'https://explorer.example' });
        expect(response.headers.get('access-control-allow-origin')).toBe('*');
      }
    expect((await app.request('/nothing')).headers.get('access-control-allow-origin')).toBe('*');
  });

  test('may read only from the origins that are configured', async () => {
    using narrow = openHoldings(dataDir, { corsOrigins: ['https://explorer.example'] });
    const allowed = await post(narrow.app, '/v1/holdings/summary', GOOD, { origin: 'https://explorer.example' });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://explorer.example');
    expect(allowed.headers.get('vary')).toBe('Origin');
    const other = await post(narrow.app, '/v1/holdings/summary', GOOD, { origin: 'https://other.example' });
    expect(other.status).toBe(200);
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
    expect(
      (await preflight('/readyz', { ...asks, origin: 'https://other.example' }, narrow.app)).headers.has(
        'access-control-allow-origin',
      ),
    ).toBe(false);
  });

  test('may not force a snapshot', async () => {
    const response = await preflight('/v0/state/acs/force', asks);
    expect(response.status).toBe(405);
    expect(response.headers.has('access-control-allow-methods')).toBe(false);
  });
});

describe("the service's own routes", () => {
  test('a service that is not ready says why with 503', async () => {
    const answer = { ready: false, reasons: ['no snapshot yet'], degraded: ['one dead letter'] };
    const readiness = { ...answer, causes: ['no_snapshot' as const] };
    using unready = openHoldings(dataDir, { health: { ready: async () => readiness, status: async () => ({}) } });
    const response = await unready.app.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(JSON.stringify(answer));
  });

  test('GET /version and /metrics', async () => {
    expect(await (await app.request('/version')).text()).toBe('{"version":"1.2.3"}');
    await post(app, '/api/scan/v1/holdings/summary', GOOD);
    const metrics = await app.request('/metrics');
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=/);
    const text = await metrics.text();
    const operation = 'method="POST",operation="/v1/holdings/summary"';
    expect(text).toMatch(new RegExp(`holdfast_http_requests_total\\{${operation},status="200"\\} \\d+`));
    expect(text).toContain(`holdfast_http_requests_total{${operation},status="500"} 0`);
    expect(text).toMatch(new RegExp(`holdfast_http_request_seconds_count\\{${operation}\\} \\d+`));
    expect(text).not.toContain('operation="/api/scan');
  });
});

describe('the API page', () => {
  const documents = [
    { name: 'holdings', path: '/openapi/holdings.json', read: async () => Buffer.from('{"openapi":"3.1.0"}') },
  ];

  test('comes from our own origin, with all that it needs', async () => {
    using shown = openHoldings(dataDir, { documents });
    const page = await (await shown.app.request('/docs')).text();
    expect(page).not.toMatch(/https?:/);
    for (const [, address] of page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)) {
      const asset = await shown.app.request(new URL(address!, 'http://localhost/docs').pathname);
      expect(asset.status, address).toBe(200);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(200);
    }
    expect(await (await shown.app.request('/openapi/holdings.json')).text()).toBe('{"openapi":"3.1.0"}');
    expect(await (await shown.app.request('/docs/start.js')).text()).toContain('"url":"openapi/holdings.json"');
  });
});

async function errorOf(response: Response): Promise<string> {
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = JSON.parse(await response.text());
  expect(Object.keys(body)).toEqual(['error']);
  return body.error;
}

const SUMMARY = '/v0/holdings/summary';

test.each([
  ['HEAD', '/v0/holdings/summary', 405, 'POST, OPTIONS'],
  ['OPTIONS', '/v0/state/acs/force', 405, 'POST'],
  ['POST', '/api/validator/v0/scan-proxy/dso-party-id', 405, 'GET, HEAD, OPTIONS'],
  ['GET', '/api/validator/v0/dso-party-id', 404, null],
  ['POST', '/api/scan/api/validator/v0/scan-proxy/holdings/summary', 404, null],
])('%s %s is %i', async (method, path, status, allow) => {
  const response = await app.request(path, { method });
  expect(response.status).toBe(status);
  expect(response.headers.get('allow')).toBe(allow);
});

describe('a request that fails through no fault of its own', () => {
  test('is a 500 whose id is in the log, without any message on what failed', async () => {
    const closed = openHoldings(dataDir);
    closed[Symbol.dispose]();
    const response = await post(closed.app, '/v1/holdings/summary', GOOD);
    expect(response.status).toBe(500);
    const error = await errorOf(response);
    const id = /^internal server error \(request ([0-9a-f-]{36})\)$/.exec(error)?.[1];
    expect(id).toBeDefined();
    expect(closed.log.join()).toContain(`"requestId":"${id}"`);
    expect(closed.log.join()).toContain('connection is not open');
  });
});

describe('a directory in which nothing was applied', () => {
  test.each(['/v0/dso-party-id', '/api/validator/v0/scan-proxy/dso-party-id'])('has no DSO: %s', async (path) => {
    using empty = openHoldings(await makeDataDirectory([]));
    const response = await empty.app.request(path);
    expect([response.status, await errorOf(response)]).toEqual([404, 'No DSO found']);
  });

  test('has no migration, no snapshot and no round', async () => {
    using empty = openHoldings(await makeDataDirectory([]));
    const last = await empty.app.request('/v0/migrations/last');
    expect([last.status, await errorOf(last)]).toEqual([404, 'No migrations found']);
    expect((await post(empty.app, SUMMARY, GOOD)).status).toBe(404);
  });

  test('the default round is refused where none is open, once the snapshot is found', async () => {
    using folder = temporaryDirectory();
    const feed = folder.writeLines('without-rounds.ndjson', storyWithoutRounds());
    using withoutRounds = openHoldings(await makeDataDirectory([feed]));
    const refused = await post(withoutRounds.app, SUMMARY, GOOD);
    expect([refused.status, await errorOf(refused)]).toEqual([400, 'No open mining rounds found.']);
    expect((await post(withoutRounds.app, SUMMARY, { ...GOOD, migration_id: 9 })).status).toBe(404);
    expect((await post(withoutRounds.app, '/v1/holdings/summary', GOOD)).status).toBe(200);
  });
});

import { afterAll, describe, expect, test } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post, storyWithoutRounds } from '../support/http/holdings-service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const service = openHoldings(dataDir, { limits: { ownersMax: 3, bodyBytesMax: 2000 } });
const { app } = service;
afterAll(() => service[Symbol.dispose]());

/** One by one, and over a socket, bad requests are in the tables of `hostile/`. */
const GOOD = {
  migration_id: 0,
  record_time: '2025-02-12T00:10:00Z',
  owner_party_ids: ['alice::1220ab'],
  page_size: 10,
};

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

import { afterAll, describe, expect, test } from 'vitest';
import { fixture } from '../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings, post, storyWithoutRounds } from '../support/http/holdings-service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const service = openHoldings(dataDir, { limits: { ownersMax: 3, bodyBytesMax: 2000 } });
const { app } = service;
afterAll(() => service[Symbol.dispose]());

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
const STATE = '/v1/holdings/state';

describe('fields', () => {
  const cases: readonly [path: string, change: object, status: number, message: string][] = [
    [SUMMARY, { migration_id: undefined }, 400, 'migration_id: given nothing, expected an integer'],
    [SUMMARY, { migration_id: null }, 400, 'migration_id: given null'],
    [SUMMARY, { migration_id: 'x' }, 400, 'migration_id: given "x"'],
    [SUMMARY, { migration_id: 1.5 }, 400, 'migration_id: given 1.5'],
    [SUMMARY, { record_time: undefined }, 400, 'record_time: given nothing, expected an RFC 3339 date-time'],
    [SUMMARY, { record_time: 5 }, 400, 'record_time: given 5'],
    [SUMMARY, { record_time: '2025-02-12' }, 400, 'record_time: given "2025-02-12"'],
    [SUMMARY, { record_time: '2025-02-12T00:10:00' }, 400, 'record_time: given'],
    [SUMMARY, { record_time: '2025-02-12 00:10:00Z' }, 400, 'record_time: given'],
    [SUMMARY, { record_time: '2025-02-12T00:10:60Z' }, 400, 'record_time: given'],
    [SUMMARY, { record_time: '2025-02-12T24:00:00Z' }, 400, 'record_time: given'],
    [SUMMARY, { record_time: '2025-02-30T00:00:00Z' }, 400, 'record_time: given'],
    [
      SUMMARY,
      { record_time: '9999-12-31T23:59:59-05:00' },
      400,
      'record_time: given "9999-12-31T23:59:59-05:00", expected an RFC 3339 date-time with Z or an offset, in UTC within the years 0001-9999',
    ],
    [
      SUMMARY,
      { record_time_match: 'near' },
      400,
      'record_time_match: given "near", expected "exact" or "at_or_before"',
    ],
    [SUMMARY, { owner_party_ids: undefined }, 400, 'owner_party_ids: given nothing, expected a list'],
    [SUMMARY, { owner_party_ids: 'alice::1' }, 400, 'owner_party_ids: given "alice::1", expected a list'],
    [SUMMARY, { owner_party_ids: [] }, 400, 'owner_party_ids: given [], expected a list of at least one item'],
    [SUMMARY, { owner_party_ids: ['a::1', 'alice'] }, 400, 'owner_party_ids[1]: given "alice", expected a party id'],
    [SUMMARY, { owner_party_ids: ['a::b::c'] }, 400, 'owner_party_ids[0]: given "a::b::c"'],
    [SUMMARY, { owner_party_ids: [7] }, 400, 'owner_party_ids[0]: given 7'],
    [SUMMARY, { owner_party_ids: ['a::1', 'a::1', 'a::1', 'a::1'] }, 400, 'expected at most 3 owners in one request'],
    [SUMMARY, { as_of_round: 'one' }, 400, 'as_of_round: given "one"'],
    [SUMMARY, { as_of_round: JSON.rawJSON('1e400') }, 400, 'as_of_round: given 1e400, expected an integer from -9223'],
    [SUMMARY, { as_of_round: JSON.rawJSON('1e19') }, 400, 'as_of_round: given 1e19, expected an integer from -9223'],
    [SUMMARY, { migration_id: 9 }, 404, 'Failed to find ACS snapshot for migration id 9 at 2025-02-12T00:10:00Z'],
    [SUMMARY, { record_time: '2025-02-12T01:15:00.5+01:00' }, 404, 'migration id 0 at 2025-02-12T00:15:00.5Z'],
    [SUMMARY, { record_time: '0001-01-01T00:00:00Z' }, 404, 'at 0001-01-01T00:00:00Z'],
    [
      SUMMARY,
      { record_time: '2025-02-12T00:09:00Z', record_time_match: 'at_or_before' },
      404,
      'No snapshots found before 2025-02-12T00:09:00Z',
    ],
    [STATE, { page_size: undefined }, 400, 'page_size: given nothing, expected an integer from 1 to 1000'],
    [STATE, { page_size: 0 }, 400, 'page_size: given 0'],
    [STATE, { page_size: 1001 }, 400, 'page_size: given 1001'],
    [STATE, { page_size: '1e2' }, 400, 'page_size: given "1e2"'],
    [STATE, { after: 999_999 }, 400, 'after: given 999999, expected a next_page_token'],
    [STATE, { after: -1 }, 400, 'after: given -1'],
    [STATE, { after: 0.5 }, 400, 'after: given 0.5'],
    [STATE, { migration_id: 9, page_size: 0 }, 400, 'page_size: given 0'],
    [STATE, { migration_id: 9, after: 999_999 }, 404, 'Failed to find ACS snapshot'],
  ];
  test.each(cases)('%s with %j is %i', async (path, change, status, message) => {
    const response = await post(app, path, { ...GOOD, ...change });
    expect(await errorOf(response)).toContain(message);
    expect(response.status).toBe(status);
  });

  test('a value that is given is shown with its first 100 characters', async () => {
    const error = await errorOf(await post(app, SUMMARY, { ...GOOD, record_time: 'x'.repeat(500) }));
    expect(error).toContain(`given "${'x'.repeat(99)}...,`);
  });

  test('null for an optional field means absent, and unknown fields are ignored', async () => {
    const change = { as_of_round: null, record_time_match: null, more: { x: [1] } };
    const response = await post(app, SUMMARY, { ...GOOD, ...change });
    expect(response.status).toBe(200);
  });
});

describe('query parameters', () => {
  test.each([
    ['snapshot-timestamp', '', 400, 'before: given nothing, expected an RFC 3339 date-time'],
    ['snapshot-timestamp', 'before=2025-02-12T00:10:00Z', 400, 'migration_id: given nothing'],
    ['snapshot-timestamp', 'before=2025-02-12T00:10:00Z&migration_id=', 400, 'migration_id: given ""'],
    ['snapshot-timestamp', 'before=2025-02-12T02:10:00+02:00&migration_id=0', 400, '%2B'],
    ['snapshot-timestamp-after', 'before=2025-02-12T00:10:00Z&migration_id=0', 400, 'after: given nothing'],
    [
      'snapshot-timestamp',
      'before=2025-02-12T00:09:59Z&migration_id=0',
      404,
      'No snapshots found before 2025-02-12T00:09:59Z',
    ],
    ['snapshot-timestamp', 'before=2025-02-12T00:10:00Z&migration_id=1', 404, 'No snapshots found before'],
    [
      'snapshot-timestamp-after',
      'after=2030-01-01T00:00:00Z&migration_id=0',
      404,
      'No snapshots found after 2030-01-01T00:00:00Z',
    ],
  ])('%s?%s is %i', async (route, query, status, message) => {
    const response = await app.request(`/api/scan/v0/state/acs/${route}?${query}`);
    expect(await errorOf(response)).toContain(message);
    expect(response.status).toBe(status);
  });
});

describe('bodies', () => {
  const big = JSON.stringify({ ...GOOD, more: 'x'.repeat(2000) });
  const cases: readonly [what: string, body: string, type: string | undefined, status: number, message: string][] = [
    ['empty', '', 'application/json', 400, 'body: given nothing'],
    [
      'cut off',
      '{"migration_id": 0,',
      'application/json',
      400,
      'body: malformed JSON: Expected double-quoted property',
    ],
    ['not JSON', 'migration_id=0', undefined, 400, 'body: malformed JSON'],
    ['a list', '[1]', 'application/json', 400, 'body: given [1], expected a JSON object'],
    ['nested too deeply', '['.repeat(1500), 'application/json', 400, 'body: JSON nested deeper than 64 levels'],
    ['of another type', '{}', 'text/plain', 415, 'Content-Type: given "text/plain", expected application/json'],
    ['a form', '{}', 'application/x-www-form-urlencoded', 415, 'Content-Type'],
    ['nearly JSON', '{}', 'application/jsonp', 415, 'Content-Type'],
    ['too large', big, 'application/json; charset=utf-8', 413, 'body: larger than 2000 bytes'],
    ['too large and of another type', big, 'text/plain', 415, 'Content-Type'],
  ];
  test.each(cases)('that are %s are refused', async (_what, body, type, status, message) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const request = new Request('http://localhost/v1/holdings/summary', { method: 'POST', headers });
    const response = await app.request(new Request(request, { body: Buffer.from(body) }));
    expect(await errorOf(response)).toContain(message);
    expect(response.status).toBe(status);
  });

  test('are held to the limit whatever their Content-Length says', async () => {
    const response = await post(app, '/v1/holdings/summary', big, { 'content-length': '10' });
    expect(response.status).toBe(413);
  });

  test.each(['application/json', 'Application/JSON;charset=UTF-8', 'application/vnd.api+json', undefined])(
    'of type %s are read',
    async (type) => {
      const request = new Request('http://localhost/v1/holdings/summary', {
        method: 'POST',
        headers: type === undefined ? {} : { 'content-type': type },
        body: Buffer.from(JSON.stringify(GOOD)),
      });
      expect((await app.request(request)).status).toBe(200);
    },
  );
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/nothing', 404, null],
    ['POST', '/v2/holdings/summary', 404, null],
    ['GET', '/api/scan/metrics', 404, null],
    ['GET', '/v0/holdings/summary', 405, 'POST, OPTIONS'],
    ['HEAD', '/v0/holdings/summary', 405, 'POST, OPTIONS'],
    ['DELETE', '/api/scan/v0/holdings/state', 405, 'POST, OPTIONS'],
    ['POST', '/v0/migrations/last', 405, 'GET, HEAD, OPTIONS'],
    ['OPTIONS', '/v0/state/acs/force', 405, 'POST'],
    ['PROPFIND', '/readyz', 405, 'GET, HEAD, OPTIONS'],
    ['POST', '/metrics', 405, 'GET, HEAD'],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const response = await app.request(path, { method });
    expect(response.status).toBe(status);
    expect(response.headers.get('allow')).toBe(allow);
    if (method !== 'HEAD') await errorOf(response);
  });

  test('a wrong path comes before a wrong body, a wrong method before a wrong type', async () => {
    expect((await post(app, '/v1/holdings', 'x', { 'content-type': 'text/plain' })).status).toBe(404);
    const wrong = { method: 'PUT', body: 'x', headers: { 'content-type': 'text/plain' } };
    expect((await app.request('/v1/holdings/summary', wrong)).status).toBe(405);
  });

  test('HEAD answers as GET, without the body', async () => {
    const response = await app.request('/v0/migrations/last', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('a request that fails through no fault of its own', () => {
  test('is a 500 whose id is in the log, without a word on what failed', async () => {
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

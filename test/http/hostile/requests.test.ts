import { afterAll, describe, expect, test } from 'vitest';
import { DOCUMENTS } from '../../../src/http/openapi-documents.ts';
import { readExpected } from '../../support/http/expected-answers.ts';
import { listenHoldings } from '../../support/http/holdings-service.ts';
import { type HostileCase, readCases } from '../../support/http/hostile-cases.ts';
import { exchange, parseAnswer, rawRequest } from '../../support/http/raw-request.ts';

/** No table is worth its name that shrinks unseen. */
const BAD_REQUESTS_MIN = 100;

const documentBytes = (area: string) => Buffer.from(JSON.stringify(DOCUMENTS[area]!.create('1')));
const service = await listenHoldings({
  limits: { ownersMax: 1000, bodyBytesMax: 20_000 },
  documents: [
    { name: 'Holdings', path: '/openapi/holdings.json', read: async () => documentBytes('holdings') },
    { name: 'Ledger', path: '/openapi/ledger.json', read: async () => documentBytes('ledger') },
  ],
});
const { port } = service;
afterAll(() => service[Symbol.asyncDispose]());

const { owner_party_ids, snapshots } = readExpected('story');
const { migration_id, record_time } = snapshots[0]!;
const good = { migration_id, record_time, owner_party_ids, page_size: 10 };
const TABLES = ['fields.txt', 'bodies.txt', 'queries.txt', 'routes.txt', 'headers.txt', 'protocol.txt'];

const tables = TABLES.map((name) => ({ name, cases: readCases(name, good) }));

describe.each(tables)('$name', ({ cases }) => {
  test.each(cases.map((given) => [given.line.slice(0, 200), given] as const))('%s', async (_, given: HostileCase) => {
    const answer = parseAnswer(await exchange(port, rawRequest(given.request)));
    expect(answer.status, answer.body).toBe(given.status);
    expect(answer.body).not.toMatch(/\bat .*\.[mc]?[jt]s:\d|node_modules|SQLITE|SELECT /);
    if (answer.status >= 400) expect(answer.headers.get('content-type')).toBe('application/json');
    if (given.request.method === 'HEAD') expect(answer.body).toBe('');
    else if (answer.status < 400) expect(answer.body).toContain(given.said);
    else expectFault(answer.body, given);
  });

  test('and none of it is a failure of ours', async () => {
    const alive = { method: 'POST', target: '/v1/holdings/summary', headers: [], body: JSON.stringify(good) };
    expect(parseAnswer(await exchange(port, rawRequest(alive))).status).toBe(200);
    expect(service.log).toEqual([]);
  });
});

function expectFault(body: string, { request: { target }, said }: HostileCase): void {
  const fault = JSON.parse(body);
  expect(Object.keys(fault)).toEqual(target.startsWith('/holdfast/') ? ['error', 'code'] : ['error']);
  expect(fault.error).toContain(said);
  expect(fault.error.length).toBeLessThan(1000);
}

test(`these are at least ${BAD_REQUESTS_MIN} bad requests, each another one`, () => {
  const bad = tables.flatMap(({ cases }) => cases).filter(({ status }) => status >= 400);
  expect(new Set(bad.map(({ request }) => rawRequest(request))).size).toBeGreaterThanOrEqual(BAD_REQUESTS_MIN);
});

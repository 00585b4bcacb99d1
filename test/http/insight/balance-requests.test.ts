import { afterAll, describe, expect, test } from 'vitest';
import { readExpected } from '../../support/http/expected-answers.ts';
import { listenHoldings } from '../../support/http/holdings-service.ts';
import { readCsv } from '../../support/http/read-csv.ts';
import { parseLedger, partyOf } from '../../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { linesOf } from '../../support/views/replayed.ts';

const ALICE = readExpected('story').owner_party_ids[0]!;
const AT = '2025-02-12T00:30:00Z';
const service = await listenHoldings();
const url = `http://127.0.0.1:${service.port}/holdfast/v1`;
afterAll(() => service[Symbol.asyncDispose]());

async function balances(body: unknown, query = '', headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${url}/balances${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

const said = async (response: Response): Promise<string> =>
  `${response.status} ${((await response.json()) as { error: string }).error}`;

describe('a question about balances', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}::1220ee`);
  const [at, owners] = [[AT], [ALICE]];
  const times = 'a list of at least one item and at most 100, each a time';
  test.each<readonly [string, unknown]>([
    [`400 at: given nothing, expected ${times}`, {}],
    [`400 at: given [], expected ${times}`, { at: [], owners }],
    [`400 at: given "${AT}", expected ${times}`, { at: AT, owners }],
    ['expected a list of at most 100 items', { at: Array(101).fill(AT), owners }],
    ['400 at[1]: given "now", expected an RFC 3339 date-time', { at: [AT, 'now'], owners }],
    ['expected a list of at most 1000 items', { at, owners: many(1_001) }],
    ['400 owners[1]: given "alice", expected a party id', { at, owners: [ALICE, 'alice'] }],
    [
      'format: given "csv", expected no such field, only migration_id, instrument_admin, instrument_id, at, owners',
      { at, owners, format: 'csv' },
    ],
    ['400 __proto__: given 1, expected no such field', `{"at":["${AT}"],"owners":["${ALICE}"],"__proto__":1}`],
    ['400 migration_id: given "x", expected an integer', { at, owners, migration_id: 'x' }],
    ['404 No updates applied in migration 7', { at, owners, migration_id: 7 }],
    [
      '404 at: given 9999-12-31T23:59:59Z, expected a time at or before 2025-02-12T01:1',
      { at: [AT, '9999-12-31T23:59:59Z'], owners },
    ],
    [
      '404 at: given 0001-01-01T00:00:00Z, expected a time at or after 2025-02-12T00:0',
      { at: ['0001-01-01T00:00:00Z', AT], owners },
    ],
    [`400 body: given ["${AT}"], expected a JSON object`, at],
    ['400 body: malformed JSON', '{'],
    ['413 body: larger than 1048576 bytes', ' '.repeat(1_048_577)],
  ])('%s', async (wanted, body) => {
    const response = await balances(body);
    expect(response.headers.has('cache-control')).toBe(false);
    expect(await said(response)).toContain(wanted);
  });

  test('may have as many times and owners as that, and the form that it names', async () => {
    const at = Array.from({ length: 100 }, (_, second) => `2025-02-12T00:30:00.${second + 100}Z`);
    const full = await balances({ at, owners: [ALICE] }, '?format=csv', { accept: 'application/json' });
    expect(readCsv(await full.text()).rows).toHaveLength(100);
    const large = await balances({ at: at.slice(0, 20), owners: many(1_000) });
    expect(large.headers.get('transfer-encoding')).toBe('chunked');
    expect(((await large.json()) as { balances: unknown[] }).balances).toHaveLength(20_000);
    for (const [query, wanted] of [
      ['?format=xml', '400 format: given "xml", expected json or csv'],
      ['?at=x', '400 at: given "x", expected no such parameter, only format'],
    ])
      expect(await said(await balances({ at: [AT], owners: [ALICE] }, query))).toBe(wanted);
  });

  test('is no GET, and pages of other origins may ask it', async () => {
    const get = await fetch(`${url}/balances`);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    const preflight = await fetch(`${url}/balances`, {
      method: 'OPTIONS',
      headers: { origin: 'https://explorer.example' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST, OPTIONS']);
    expect(
      (await fetch(`http://127.0.0.1:${service.port}/api/scan/holdfast/v1/balances`, { method: 'POST' })).status,
    ).toBe(404);
  });
});

describe('a question about an owner', () => {
  test.each([
    [`owners/${ALICE}?at=now`, '400 at: given "now", expected an RFC 3339 date-time'],
    [
      `owners/${ALICE}?limit=1`,
      '400 limit: given "1", expected no such parameter, only migration_id, at, instrument_admin, instrument_id, format',
    ],
    [`owners/${ALICE}?migration_id=7`, '404 No updates applied in migration 7'],
    ['owners/alice', '400 party: given "alice", expected a party id'],
    [
      `owners/${ALICE}?at=1969-12-31T23:59:59Z`,
      '404 at: given 1969-12-31T23:59:59Z, expected a time at or after 2025-02-12T00:0',
    ],
  ])('%s: %s', async (target, wanted) => {
    expect(await said(await fetch(`${url}/${target}`))).toContain(wanted);
  });

  test('is answered as CSV too, and with a tag by which it is not sent again', async () => {
    const target = `${url}/owners/${ALICE}?migration_id=0&at=${AT}`;
    const json = await fetch(target);
    expect(await json.json()).toMatchObject({ unlocked: '79.7500000000', locked: '300.0000000000', snapshot: AT });
    const csv = await fetch(target, { headers: { accept: 'text/csv' } });
    expect(readCsv(await csv.text()).rows).toEqual([expect.objectContaining({ at: AT, locked: '300.0000000000' })]);
    expect(csv.headers.get('etag')).not.toBe(json.headers.get('etag'));
    const again = await fetch(target, { headers: { 'if-none-match': json.headers.get('etag')! } });
    expect(again.status).toBe(304);
  });
});

test('movements in an open interval are counted, however many', async () => {
  using folder = temporaryDirectory();
  const coins = Array.from({ length: 60 }, (_, at) => `00:31:${String(at).padStart(2, '0')} : +b${at} bob 1`);
  const feed = folder.writeLines('feed', linesOf(parseLedger(['00:01 : +a alice 1', ...coins].join('\n')), 'scan'));
  await using other = await listenHoldings({}, { feed });
  const answer = await fetch(`http://127.0.0.1:${other.port}/holdfast/v1/owners/${partyOf('bob')}`);
  const counts = { contracts: 60, snapshot: AT, movements_since_snapshot: 60, total: '60.0000000000' };
  expect(await answer.json()).toMatchObject({
    at: '2025-02-12T00:31:59Z',
    applied_to: '2025-02-12T00:31:59Z',
    ...counts,
  });
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { type Client, createClient, HoldfastError, type ListPath, type ParametersOf } from '../../client/src/index.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { type Service, startService } from '../support/http/service.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const folder = temporaryDirectory();
let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService(['--data', folder.at('data'), '--file', fixture('story.scan.ndjson')]);
  await service.until('/readyz', (status) => status === 200);
  client = createClient({ url: service.url });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const TIME = '2025-02-12T00:30:00Z';
const party = 'bob::1220aea0403af1b689b3c31a44d0368f5f1e60d13736ad7afca711ed4636400f308b';
const state = {
  migration_id: 0,
  record_time: TIME,
  owner_party_ids: [party],
  record_time_match: 'at_or_before',
} as const;

/** All lists that a directory of coin can have rows in. */
const LISTS: { readonly [Path in ListPath]?: ParametersOf<Path> } = {
  '/v2/holdings/state': { ...state, page_size: 1 },
  '/v1/holdings/state': { ...state, page_size: 1 },
  '/v0/holdings/state': { ...state, page_size: 1 },
  '/holdfast/v1/snapshots': { limit: 1 },
  '/holdfast/v1/owners': { limit: 1, record_time: TIME },
  '/holdfast/v1/top': { limit: 1, record_time: TIME },
  '/holdfast/v1/movements': { limit: 1 },
  '/holdfast/v1/owners/{party}/changes': { party, limit: 1 },
  '/holdfast/v1/owners/{party}/movements': { party, limit: 1 },
};

describe('the pages of a list', () => {
  it.each(Object.entries(LISTS) as [ListPath, ParametersOf<ListPath>][])(
    'of %s are all rows, once',
    async (path, small) => {
      const rowsOf = (page: object): readonly unknown[] => Object.values(page).find((value) => Array.isArray(value))!;
      const rows: unknown[] = [];
      for await (const page of client.pages(path, small)) {
        expect(rowsOf(page)).toHaveLength(1);
        rows.push(...rowsOf(page));
      }
      const large = { ...small, ...('limit' in small ? { limit: 1_000 } : { page_size: 1_000 }) };
      const all = await client.call(path, large);
      expect(rows.length).toBeGreaterThan(path.endsWith('state') ? 0 : 1);
      expect(rows).toEqual(rowsOf(all));
      expect((all as { next_page_token?: unknown }).next_page_token ?? null).toBeNull();
    },
  );

  it('begin at a token', async () => {
    const { next_page_token } = await client.call('/holdfast/v1/top', { limit: 1, record_time: TIME });
    const ranks: number[] = [];
    for await (const { owners } of client.pages('/holdfast/v1/top', { after: next_page_token! }))
      ranks.push(...owners.map(({ rank }) => rank));
    expect(ranks[0]).toBe(2);
  });
});

describe('an answer', () => {
  it('is that of the operation, whose parameters are in the path, the query and the body', async () => {
    const balance = await client.call('/holdfast/v1/owners/{party}', { party, at: TIME, migration_id: 0 });
    expectTypeOf(balance.total).toEqualTypeOf<string>();
    const { balances } = await client.call('/holdfast/v1/balances', { at: [TIME], owners: [party] });
    expect(balances[0]).toMatchObject({ party_id: party, total: balance.total });
    const { summaries } = await client.call('/v1/holdings/summary', state);
    expect(summaries[0]!.total_coin_holdings).toBe(balance.total);
    // As its clients reach a node of Splice.
    const scan = createClient({ url: `${service.url}/api/scan` });
    expect((await scan.call('/v1/holdings/summary', state)).summaries).toEqual(summaries);
    expect((await client.call('/version', {})).version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('has integers above 2^53 as their digits, which can be sent again', async () => {
    const digits = '9007199254740993';
    const { computed_as_of_round } = await client.call('/v0/holdings/summary', { ...state, as_of_round: digits });
    expect(computed_as_of_round).toBe(digits);
  });

  it('is of a request that can be kept, shown and sent', async () => {
    const request = client.requestFor('/holdfast/v1/owners/{party}/statement', { party, every: '1d', from: undefined });
    expect(request).toEqual({ url: `${service.url}/holdfast/v1/owners/${party}/statement?every=1d` });
    expect((await client.send(request)).periods.length).toBeGreaterThan(0);
    const { body } = client.requestFor('/v1/holdings/summary', state);
    expect(body).toEqual(state);
  });
});

describe('a request', () => {
  it.each(['', '.', '..'])('has no part "%s" in its path, which would make it another one', async (id) => {
    const error = { name: 'RangeError', message: `party: given "${id}", expected an id` };
    await expect(client.call('/holdfast/v1/owners/{party}/movements', { party: id })).rejects.toMatchObject(error);
    const { found } = await client.call('/holdfast/v1/ids/{id}', { id: '...' });
    expect(found).toEqual([]);
  });

  it('has the key of the client and no other, which no error repeats', async () => {
    const { host } = new URL(service.url);
    const withPassword = (): Client => createClient({ url: `http://user:password@${host}` });
    expect(withPassword).toThrow(new RangeError('url: given a user or password, expected apiKey'));
    const message = 'apiKey: given a space or another character that no key has';
    for (const apiKey of ['a key', 'key\n', 'Schlüssel'])
      expect(() => createClient({ url: service.url, apiKey })).toThrow(new RangeError(message));
    const sent: (string | null)[] = [];
    const record: typeof fetch = async (input, init) => {
      sent.push(new Headers(init?.headers).get('authorization'));
      return await fetch(input, init);
    };
    for (const apiKey of ['', 'key'])
      await createClient({ url: service.url, apiKey, fetch: record }).call('/version', {});
    expect(sent).toEqual([null, 'Bearer key']);
  });
});

describe('an error', () => {
  it.each([
    ['a wrong parameter', 400, 'invalid', () => client.call('/holdfast/v1/top', { limit: 0 })],
    ['what is not there', 404, 'missing', () => client.call('/holdfast/v1/top', { migration_id: 7 })],
    ['an operation that is turned off', 400, undefined, () => client.call('/v0/state/acs/force', {})],
  ])('says what is wrong with %s', async (_, status, code, ask) => {
    const error = await ask().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ status, code, isTemporary: false, message: expect.stringMatching(/\w+ .*\w/) });
  });

  it('names the first snapshot, where the time asked for is before it', async () => {
    const early = client.call('/holdfast/v1/top', { record_time: '2025-02-11T00:00:00Z' });
    await expect(early).rejects.toMatchObject({ status: 404, nearest: expect.stringMatching(/^2025-02-12T/) });
  });

  it('is temporary where no answer comes, or one of a proxy, and the signal gives its own', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/version') response.writeHead(502, { 'Retry-After': '7' }).end('<html>');
      else response.writeHead(200, { 'Content-Length': '100' }).write('{', () => request.socket.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const behind = createClient({ url });
    const bad = { status: 502, message: '502 Bad Gateway', isTemporary: true, retryAfterMs: 7_000 };
    await expect(behind.call('/version', {})).rejects.toMatchObject(bad);
    await expect(behind.call('/status', {})).rejects.toMatchObject({ status: null, message: 'The answer broke off.' });
    server.close();
    await once(server, 'close');
    const none = { status: null, isTemporary: true, message: `No connection to Holdfast at ${url}.` };
    await expect(behind.call('/status', {})).rejects.toMatchObject(none);
    const aborted = client.call('/status', {}, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(aborted).rejects.toThrow('enough');
  });
});

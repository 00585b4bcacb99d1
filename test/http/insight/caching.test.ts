import { afterAll, describe, expect, test } from 'vitest';
import { fixture, readExpected } from '../../support/http/expected-answers.ts';
import { makeDataDirectory, openHoldings } from '../../support/http/holdings-service.ts';
import { parseLedger } from '../../support/ledger/parse-ledger.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../../support/views/replayed.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const service = openHoldings(dataDir);
const { app } = service;
afterAll(() => service[Symbol.dispose]());

const story = readExpected('story');
const ALICE = story.owner_party_ids[0]!;
const NEWEST = story.snapshots.at(-1)!.record_time;
const LATER = '2025-02-12T01:10:00.000001Z';
const V1 = '/holdfast/v1';
const FOR_EVER = 'public, max-age=31536000, immutable';

const TARGETS = [
  ['snapshots', 'to'],
  ['owners', 'record_time'],
  ['top', 'record_time'],
  [`owners/${ALICE}/history`, 'to'],
  [`owners/${ALICE}/changes`, 'to'],
  [`owners/${ALICE}/movements`, 'to'],
  [`owners/${ALICE}/statement`, 'to'],
  [`owners/${ALICE}/locks`, 'record_time'],
  ['movements', 'to'],
] as const;

const get = async (target: string, headers: Record<string, string> = {}): Promise<Response> =>
  await app.request(`${V1}/${target}`, { headers });

describe.each(TARGETS)('an answer of %s', (target, until) => {
  test.each([
    [`migration_id=0&${until}=${NEWEST}`, FOR_EVER],
    [`migration_id=0&${until}=2025-02-12T00:35:00Z&format=csv`, FOR_EVER],
    [`migration_id=0&${until}=${LATER}`, 'no-cache'],
    [`${until}=${NEWEST}`, 'no-cache'],
    ['migration_id=0', 'no-cache'],
  ])('to ?%s says %s', async (query, said) => {
    const response = await get(`${target}?${query}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe(said);
    expect(response.headers.get('vary')).toBe('Accept');
    expect(response.headers.get('access-control-expose-headers')).toBe('Link, ETag, Content-Disposition');
    expect(response.headers.get('etag')).toMatch(/^"[\w-]{43}"$/);
  });

  test('has a tag of its own in each form, with which it is not sent again', async () => {
    const tags = new Set<string>();
    for (const [query, accept] of [
      ['', '*/*'],
      ['', 'text/csv'],
      ['migration_id=0', 'text/html'],
    ] as const) {
      const first = await get(`${target}?${query}`, { accept });
      const tag = first.headers.get('etag')!;
      tags.add(tag);
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const again = await get(`${target}?${query}`, { accept, 'if-none-match': known });
        expect([again.status, await again.text()]).toEqual([304, '']);
        for (const name of ['etag', 'cache-control', 'vary', 'access-control-allow-origin'])
          expect(again.headers.get(name), name).toBe(first.headers.get(name));
      }
      const other = await get(`${target}?${query}`, { accept, 'if-none-match': '"x"' });
      expect(await other.text()).toBe(await first.text());
    }
    expect(tags.size).toBe(2);
  });

  test('is CSV where it is asked for by name, and a file with a telling name', async () => {
    const type = async (query: string, accept?: string): Promise<string> =>
      (await get(`${target}?${query}`, accept === undefined ? {} : { accept })).headers.get('content-type')!;
    const [json, csv] = ['application/json', 'text/csv; charset=utf-8'];
    expect(await type('')).toBe(json);
    expect(await type('format=csv')).toBe(csv);
    expect(await type('format=json', 'text/csv')).toBe(json);
    expect(await type('format=csv', 'application/json')).toBe(csv);
    for (const [accept, wanted] of [
      ['text/csv', csv],
      ['text/csv, */*;q=0.1', csv],
      ['application/json;q=0.5, text/csv', csv],
      ['application/json, text/csv', json],
      ['text/csv;q=0', json],
      [',;q=,text/csv;q=x', csv],
    ])
      expect(await type('', accept), accept).toBe(wanted);
    const file = (await get(`${target}?format=csv`)).headers.get('content-disposition')!;
    expect(file).toMatch(
      /^attachment; filename="holdfast-(snapshots|owners|top|history|changes|locks|(all-)?movements|statement)-[\w.-]+\.csv"$/,
    );
    if (target.includes('::')) expect(file).toMatch(/-alice-1220/);
    expect((await get(target)).headers.has('content-disposition')).toBe(false);
  });
});

test('where only some origins may read, Vary names both headers', async () => {
  using narrow = openHoldings(dataDir, { corsOrigins: ['https://explorer.example'] });
  const response = await narrow.app.request(`${V1}/top`, { headers: { origin: 'https://explorer.example' } });
  expect(response.headers.get('vary')).toBe('Accept, Origin');
  expect(response.headers.get('access-control-allow-origin')).toBe('https://explorer.example');
});

test('pages of other origins may ask', async () => {
  const asked = { method: 'OPTIONS', headers: { origin: 'https://explorer.example' } };
  const response = await app.request(`${V1}/owners/${ALICE}/history`, asked);
  expect([response.status, response.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, HEAD, OPTIONS']);
});

test('the next page is linked, with all that was asked, in both forms', async () => {
  for (const format of ['json', 'csv']) {
    const response = await get(`owners?migration_id=0&record_time=${NEWEST}&limit=1&format=${format}`);
    const [, target] = /^<(\/holdfast\/v1\/owners\?.*)>; rel="next"$/.exec(response.headers.get('link')!)!;
    const query = new URL(target!, 'http://localhost').searchParams;
    expect([...query.keys()]).toEqual(['migration_id', 'record_time', 'limit', 'format', 'after']);
    const next = await app.request(target!);
    expect(next.headers.get('cache-control')).toBe(FOR_EVER);
    expect(await next.text()).toContain(story.owner_party_ids[1]);
  }
});

test('what may be kept for ever is the same after further snapshots; snapshots before the DSO is known may not', async () => {
  using folder = temporaryDirectory();
  const feeds = ['00:01 :\n00:31 :', '00:01 :\n00:31 :\n00:41 : +a alice 1\n00:51 :', '00:51 :\n01:01 : -a\n01:11 :'];
  const [none, coin, more] = feeds.map((ledger, i) => folder.writeLines(`${i}`, linesOf(parseLedger(ledger), 'scan')));
  const dir = await makeDataDirectory([none!]);
  const ask = async (target: string): Promise<readonly (string | null)[]> => {
    using other = openHoldings(dir);
    const response = await other.app.request(`${V1}/${target}`);
    return [...['cache-control', 'etag', 'link'].map((name) => response.headers.get(name)), await response.text()];
  };
  const early = 'snapshots?migration_id=0&to=2025-02-12T00:20:00Z&limit=1';
  const [caching, , , text] = await ask(early);
  expect([caching, text]).toEqual(['no-cache', expect.stringContaining('"dso":null')]);
  await replayInto(dir, [coin!]);
  const until = '2025-02-12T00:50:00Z';
  const targets = [
    early,
    `owners?migration_id=0&record_time=${until}`,
    `top?migration_id=0&record_time=${until}&limit=all&format=csv`,
  ];
  const before = await Promise.all(targets.map(ask));
  for (const [caching] of before) expect(caching).toBe(FOR_EVER);
  await replayInto(dir, [more!]);
  expect(await Promise.all(targets.map(ask))).toEqual(before);
});

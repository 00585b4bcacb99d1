import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { openApiKeys } from '../../src/http/api-keys.ts';
import { createMetrics } from '../../src/http/prometheus.ts';
import { fixture } from '../support/http/expected-answers.ts';
import { listenHoldings, makeDataDirectory, openHoldings } from '../support/http/holdings-service.ts';
import { exchange, parseAnswer, rawRequest } from '../support/http/raw-request.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const silent = pino({ level: 'silent' });
const directory = temporaryDirectory();
const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);

const KEY = 'holdfast_NzI1ZmQ0OGMtM2YxMC00ZTkzLWE3ZGItODQ1';
const OTHER = 'another-key';
const entry = (name: string, key: string, rate: object = { perMinute: 60_000 }): string =>
  JSON.stringify({ name, sha256: hash('sha256', key), ...rate });

const file = directory.writeLines('keys.ndjson', [entry('explorer', KEY), entry('other', OTHER)]);
let nowMs = 0;
const metrics = createMetrics();
const apiKeys = openApiKeys(file, { registry: metrics.registry, logger: silent, clockMs: () => nowMs });
const { app } = openHoldings(dataDir, { apiKeys, metrics, dashboard: true });
afterAll(() => {
  apiKeys[Symbol.dispose]();
  directory[Symbol.dispose]();
});

const TOP = '/holdfast/v1/top?migration_id=0&record_time=2025-02-12T00:10:00Z';
const basic = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`;

describe('a service with API keys', () => {
  it.each<[path: string, method?: string]>([
    ['/'],
    ['/owners/alice'],
    ['/docs'],
    ['/status'],
    ['/version'],
    ['/metrics'],
    [TOP],
    [TOP, 'HEAD'],
    ['/holdfast/v1/stream'],
    ['/holdfast/v1/stream', 'POST'],
    ['/v0/dso-party-id'],
    ['/api/scan/v0/dso-party-id'],
    ['/v1/holdings/summary', 'POST'],
    ['/api/validator/v1/scan-proxy/holdings/summary', 'POST'],
    ['/v2/holdings/state', 'POST'],
    ['/v0/state/acs/force', 'POST'],
  ])('asks for one at %s %s', async (path, method = 'GET') => {
    const response = await app.request(path, { method });
    expect(response.status).toBe(401);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'www-authenticate': 'Basic realm="Holdfast", charset="UTF-8", Bearer realm="Holdfast"',
      'content-type': 'application/json',
      'cache-control': 'private',
    });
    const error = 'Authorization: given nothing, expected "Bearer KEY", or Basic with the key as its password';
    const code = path.startsWith('/holdfast/') ? { code: 'invalid' } : {};
    if (method !== 'HEAD') expect(await response.json()).toEqual({ error, ...code });
  });

  it.each(['/livez', '/readyz', '/api/scan/livez'])('asks for none at %s', async (path) => {
    expect((await app.request(path)).status).toBe(200);
  });

  it.each<[form: string, header: string]>([
    ['Bearer', `Bearer ${KEY}`],
    ['bearer in lower case and with spaces', `bearer   ${OTHER}`],
    ['the password of Basic', basic(`anybody:${KEY}`)],
    ['the password of Basic without a user', basic(`:${KEY}`)],
    ['the password of Basic without its padding', basic(`ab:${KEY}`).replaceAll('=', '')],
  ])('takes one as %s', async (_, authorization) => {
    expect((await app.request(TOP, { headers: { authorization } })).status).toBe(200);
  });

  it.each<[what: string, header: string]>([
    ['another key', `Bearer ${KEY}x`],
    ['a beginning', `Bearer ${KEY.slice(0, -1)}`],
    ['another case', `Bearer ${KEY.toUpperCase()}`],
    ['the hash', `Bearer ${hash('sha256', KEY)}`],
    ['the name', 'Bearer explorer'],
    ['no key', 'Bearer '],
    ['a scheme of its own', `Key ${KEY}`],
    ['the key alone', KEY],
    ['two keys', `Bearer ${KEY}, Bearer ${OTHER}`],
    ['a parameter', `Bearer ${KEY};x=1`],
    ['the key as the user of Basic', basic(`${KEY}:`)],
    ['Basic without a colon', basic(KEY)],
    ['a password with more', basic(`u:${KEY}:`)],
    ['a line end in the password', basic(`u:${KEY}\n`)],
    ['a zero byte in the password', basic(`u:${KEY}\0`)],
    ['base64 with a hole', `Basic ${basic(`u:${KEY}`).slice(6).replace('o', '*')}`],
    ['base64url', `Basic ${Buffer.from(`u:\u00ff\u00ff\u00ff${KEY}`).toString('base64url')}`],
    ['base64 in base64', basic(basic(`u:${KEY}`))],
    ['more than any key', `Bearer ${'x'.repeat(60_000)}`],
    ['more than any login', `Basic ${'eDp4'.repeat(15_000)}`],
  ])('refuses %s', async (_, authorization) => {
    const response = await app.request(TOP, { headers: { authorization } });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(KEY.slice(0, 20));
  });

  it('takes none of the query, of a cookie or of another header', async () => {
    for (const name of ['api_key', 'access_token', 'key'])
      expect((await app.request(`${TOP}&${name}=${KEY}`)).status).toBe(401);
    for (const name of ['cookie', 'x-api-key', 'proxy-authorization'])
      expect((await app.request(TOP, { headers: { [name]: `Bearer ${KEY}` } })).status).toBe(401);
  });

  it('refuses two headers over a socket, in any spelling, and takes no body for a request', async () => {
    await using service = await listenHoldings({ apiKeys });
    const ask = (...headers: string[]): string => rawRequest({ method: 'GET', target: TOP, headers, body: '' });
    const statusOf = async (...headers: string[]): Promise<number> =>
      parseAnswer(await exchange(service.port, ask(...headers))).status;
    const good = `Authorization: Bearer ${KEY}`;
    expect(await statusOf(good)).toBe(200);
    expect(await statusOf(good, 'Authorization: Bearer x')).toBe(401);
    expect(await statusOf('Authorization: Bearer x', good)).toBe(401);
    expect(await statusOf(good, good)).toBe(401);
    expect(await statusOf(good, `AUTHORIZATION: ${basic(`u:${KEY}`)}`)).toBe(401);
    expect(await statusOf(`Authorization : Bearer ${KEY}`)).toBe(400);
    expect(await statusOf('Authorization:', ` Bearer ${KEY}`)).toBe(400);
    expect(await statusOf(`X: y\nAuthorization: Bearer ${KEY}`)).toBe(400);
    expect(await statusOf(`Authorization: Bearer ${KEY}\0`)).toBe(400);
    const open = 'Connection: keep-alive';
    const body = JSON.stringify({ migration_id: 0, record_time: '2025-02-12T00:10:00Z', owner_party_ids: ['a::b'] });
    const posted = rawRequest({ method: 'POST', target: '/v1/holdings/summary', headers: [open], body });
    const both = await exchange(service.port, `${posted}${ask(good)}`);
    expect([...both.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['401']);
  });

  it('does not take in a large body without a key', async () => {
    await using service = await listenHoldings({ apiKeys });
    const head = 'POST /v1/holdings/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n';
    const { status } = parseAnswer(await exchange(service.port, `${head}${'x'.repeat(1_000_000)}`));
    expect(status).toBe(401);
  });

  it('lets pages of other origins ask before, and read why they may not', async () => {
    const asked = { origin: 'https://explorer.example', 'access-control-request-headers': 'authorization' };
    const preflight = await app.request(TOP, { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    const refused = await app.request(TOP, { headers: { origin: 'https://explorer.example' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    // Else a page could use what a browser keeps for a user.
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
    expect(refused.headers.has('access-control-expose-headers')).toBe(false);
  });

  it('lets no shared cache keep an answer, and says so of none where anybody may ask', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const cachingOf = async (path: string): Promise<string | null> =>
      (await app.request(path, { headers })).headers.get('cache-control');
    expect(await cachingOf(TOP)).toBe('private, max-age=31536000, immutable');
    expect(await cachingOf('/holdfast/v1/top')).toBe('private, no-cache');
    expect(await cachingOf('/v0/dso-party-id')).toBe('private');
    expect(await cachingOf('/holdfast/v1/nothing')).toBeNull();
    const { headers: cached } = await app.request(TOP, { headers });
    const known = { ...headers, 'if-none-match': cached.get('etag')! };
    const again = await app.request(TOP, { headers: known });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'private, max-age=31536000, immutable']);
    expect((await app.request(TOP, { headers: { 'if-none-match': cached.get('etag')! } })).status).toBe(401);
    using open = openHoldings(dataDir);
    const unlocked = await open.app.request(TOP);
    expect(unlocked.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await open.app.request('/v0/dso-party-id')).headers.has('cache-control')).toBe(false);
  });

  it('counts requests by name', async () => {
    const text = await metrics.registry.metrics();
    const counted = Object.fromEntries(
      [...text.matchAll(/^holdfast_api_key_requests_total\{key="(\w+)"\} (\d+)$/gm)].map(([, name, n]) => [name, n]),
    );
    expect(Object.keys(counted)).toEqual(['explorer', 'other']);
    expect(Number(counted.other)).toBe(1);
    expect(text).toMatch(/^holdfast_http_requests_total\{.*operation="\/holdfast\/v1\/top",status="401"\} \d/m);
    expect(text).not.toContain(KEY);
  });
});

describe('the rate of a key', () => {
  const limited = directory.writeLines('limited.ndjson', [
    entry('slow', 'slow', { perMinute: 30, burst: 2 }),
    entry('plain', 'plain', { perMinute: 3 }),
  ]);

  it('is what its entry says, for each by itself, and time gives it back up to the burst', async () => {
    const { registry } = createMetrics();
    using keys = openApiKeys(limited, { registry, logger: silent, clockMs: () => nowMs });
    using service = openHoldings(dataDir, { apiKeys: keys });
    const ask = async (key: string, path = '/version'): Promise<readonly [number, string | null]> => {
      const response = await service.app.request(path, { headers: { authorization: `Bearer ${key}` } });
      return [response.status, response.headers.get('retry-after')];
    };
    const all = async (key: string, times: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) statuses.push((await ask(key))[0]);
      return statuses;
    };
    expect(await all('slow', 3)).toEqual([200, 200, 429]);
    expect(await ask('slow')).toEqual([429, '2']);
    expect(await ask('slow', '/livez')).toEqual([200, null]);
    expect(await all('plain', 4)).toEqual([200, 200, 200, 429]);
    expect(await ask('plain')).toEqual([429, '20']);
    nowMs += 1_999;
    expect(await ask('slow')).toEqual([429, '1']);
    nowMs += 1;
    expect(await all('slow', 2)).toEqual([200, 429]);
    nowMs += 3_600_000;
    expect(await all('slow', 3)).toEqual([200, 200, 429]);
    expect(await all('plain', 4)).toEqual([200, 200, 200, 429]);
    const response = await service.app.request('/version', { headers: { authorization: 'Bearer slow' } });
    expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After');
    expect(await response.json()).toEqual({
      error: 'key slow: given more than 30 requests a minute, and 2 at once; try again later',
    });
  });
});

describe('the file of keys', () => {
  const good = entry('a', 'a');
  const expectedName = 'expected 1-64 of letters, digits, ".", "_" and "-"';
  const expectedHash = 'expected the SHA-256 of the key in 64 hex digits of lower case';
  const expectedRate = 'expected a whole number from 1 to 1000000';

  it.each<[what: string, lines: readonly string[], said: string]>([
    ['nothing', [], 'given 0 keys, expected 1 to 1000, each a line as `holdfast api-key` writes it'],
    ['only blank lines', ['', ' ', ''], 'given 0 keys'],
    [
      'a line that is no JSON',
      [good, '', KEY],
      'line 3: no JSON object, expected a line as `holdfast api-key` writes it',
    ],
    ['a list', [`[${good}]`], 'line 1: no JSON object'],
    ['no name', [good.replace('name', 'nome')], `line 1: name: given nothing, ${expectedName}`],
    ['a name of another form', [entry('a b', 'a')], `line 1: name: given "a b", ${expectedName}`],
    [
      'the key itself',
      [JSON.stringify({ name: 'a', sha256: KEY, perMinute: 1 })],
      `sha256: given something else, ${expectedHash}`,
    ],
    ['a hash in upper case', [good.replace(/[0-9a-f]{64}/, (found) => found.toUpperCase())], expectedHash],
    ['no rate', [entry('a', 'a', {})], `line 1: perMinute: given nothing, ${expectedRate}`],
    ['a rate of 0', [entry('a', 'a', { perMinute: 0 })], `line 1: perMinute: given 0, ${expectedRate}`],
    ['a rate as text', [entry('a', 'a', { perMinute: '9' })], `line 1: perMinute: given "9", ${expectedRate}`],
    ['a broken burst', [entry('a', 'a', { perMinute: 1, burst: 1.5 })], `line 1: burst: given 1.5, ${expectedRate}`],
    [
      'another field',
      [entry('a', 'a', { perMinute: 1, key: KEY })],
      'line 1: "key": no such field, only name, sha256, perMinute, burst',
    ],
    ['a name twice', [good, entry('a', 'b')], 'name of "a": given twice, expected once'],
    ['a key twice', [good, entry('b', 'a')], 'sha256 of "b": given twice, expected once'],
    [
      'too many',
      Array.from({ length: 1001 }, (_, i) => entry(`k${i}`, `k${i}`)),
      'given 1001 keys, expected 1 to 1000',
    ],
  ])('is refused with %s, and no key is shown', (_what, lines, said) => {
    const bad = directory.writeLines('bad.ndjson', lines);
    const { registry } = createMetrics();
    const open = (): unknown => openApiKeys(bad, { registry, logger: silent, clockMs: () => nowMs });
    expect(open).toThrow(`--api-keys-file: ${bad}: `);
    expect(open).toThrow(said);
    expect(open).not.toThrow(KEY);
  });

  it('may have as many keys as it has metrics for, of which the last is as fast as the first', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `k${i}`);
    const many = directory.writeLines(
      'many.ndjson',
      names.map((name) => entry(name, name)),
    );
    const { registry } = createMetrics();
    using keys = openApiKeys(many, { registry, logger: silent, clockMs: () => nowMs });
    using service = openHoldings(dataDir, { apiKeys: keys });
    for (const key of ['k0', 'k999'])
      expect((await service.app.request('/version', { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  });

  it('is read again when it changes; a bad one is reported, and those of before stay as they are', async () => {
    const changing = directory.writeLines('changing.ndjson', [entry('a', 'a', { perMinute: 2 })]);
    const log: string[] = [];
    const logger = pino({}, { write: (line: string) => void log.push(line) });
    const { registry } = createMetrics();
    using keys = openApiKeys(changing, { registry, logger, clockMs: () => nowMs });
    using service = openHoldings(dataDir, { apiKeys: keys });
    const ask = async (key: string): Promise<number> =>
      (await service.app.request('/version', { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await ask('a'), await ask('b')]).toEqual([200, 401]);
    writeFileSync(changing, `${readFileSync(changing, 'utf8')}${entry('b', 'b')}\n`);
    await expect.poll(() => ask('b')).toBe(200);
    // What was taken is not given back.
    expect([await ask('a'), await ask('a')]).toEqual([200, 429]);
    const before = readFileSync(changing);
    writeFileSync(changing, `${KEY}\n`);
    await expect.poll(() => keys.failures()).toEqual([expect.stringContaining('line 1: no JSON object')]);
    expect(await ask('b')).toBe(200);
    writeFileSync(changing, before);
    await expect.poll(() => keys.failures()).toEqual([]);
    writeFileSync(changing, entry('b', 'b'));
    await expect.poll(() => ask('a')).toBe(401);
    expect(await ask('b')).toBe(200);
    expect(log.filter((line) => line.includes(KEY))).toEqual([]);
    expect(log.filter((line) => line.includes('"level":50'))).toHaveLength(1);
  });
});

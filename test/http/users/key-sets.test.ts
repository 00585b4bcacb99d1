import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';
import { type RunningArea, startArea } from '../../support/users/area.ts';
import {
  type KeyServer,
  keyToken,
  makeKey,
  pem,
  publicJwk,
  type SigningKey,
  secretToken,
  startKeyServer,
} from '../../support/users/keys.ts';

/** The key of the provider P, its issuer, and what a token of its member says. */
const KEY = makeKey('ES256', 'one');
const OTHER = makeKey('ES256', 'two');
const ISSUER = 'https://issuer.example';
const CLAIMS = { sub: 'member', iss: ISSUER };

let keyServer: KeyServer;
let area: RunningArea;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  keyServer = await startKeyServer();
  await keyServer.publish('/keys', KEY);
  area = await startArea();
  addProvider('P', ISSUER, `${keyServer.url}/keys`);
  addMember('member', 'P');
});
afterEach(async () => {
  await area[Symbol.asyncDispose]();
  await keyServer[Symbol.asyncDispose]();
  vi.useRealTimers();
});

function addProvider(id: string, issuer: string, jwksUrl: string, audience = ''): void {
  area.users.write((users) => users.insertIdentityProvider({ id, isDeactivated: false, issuer, jwksUrl, audience }));
}

function addMember(id: string, identityProviderId: string, to = area): void {
  const user = { primaryParty: '', isDeactivated: false, primaryPartyAuthentication: false, resourceVersion: 0n };
  to.users.write((users) => users.insertUser({ ...user, id, identityProviderId, annotations: new Map() }));
}

const pass = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);
const asked = (path = '/keys'): number => keyServer.asked.get(path) ?? 0;

/** What a request with this token is answered with. */
async function status(token: string | Promise<string>, of = area): Promise<number> {
  const headers = { authorization: `Bearer ${await token}` };
  return (await fetch(`${of.url}/v2/authenticated-user`, { headers })).status;
}

describe('C31 tokens of an identity provider', () => {
  it.each<readonly [string, () => Promise<string>, number]>([
    ['with its key and issuer', () => keyToken(KEY, CLAIMS), 200],
    ['without a kid', () => keyToken(KEY, CLAIMS, { kid: undefined }), 401],
    ['with a foreign key under a known kid', () => keyToken(makeKey('ES256', 'one'), CLAIMS), 401],
    ['with an unknown issuer', () => keyToken(KEY, { ...CLAIMS, iss: 'https://other.example' }), 401],
    ['without an issuer', () => keyToken(KEY, { ...CLAIMS, iss: undefined }), 401],
    ['without the scope', () => keyToken(KEY, { ...CLAIMS, scope: undefined }), 401],
    ['for another participant', () => keyToken(KEY, { ...CLAIMS, aud: 'other' }), 403],
    ['for a user of the default provider', () => keyToken(KEY, { ...CLAIMS, sub: 'participant_admin' }), 403],
    ['of the default service, whatever its issuer', () => secretToken({ sub: 'participant_admin', iss: ISSUER }), 200],
    ['of the default service for a member', () => secretToken(CLAIMS), 403],
  ])('%s', async (_, token, expected) => {
    expect(await status(token())).toBe(expected);
  });

  it('need the audience that the provider requires, and then no scope', async () => {
    addProvider('A', 'https://a.example', `${keyServer.url}/keys`, 'ours');
    addMember('a', 'A');
    const claims = { sub: 'a', iss: 'https://a.example', scope: undefined };
    expect(await status(keyToken(KEY, { ...claims, aud: ['x', 'ours'] }))).toBe(200);
    expect(await status(keyToken(KEY, { ...claims, aud: 'x' }))).toBe(401);
    expect(await status(keyToken(KEY, { ...claims, scope: 'daml_ledger_api' }))).toBe(401);
  });
});

describe('a key set', () => {
  it('is fetched once for many tokens, also at the same time', async () => {
    const tokens = Array.from({ length: 20 }, (_, at) => keyToken(KEY, { ...CLAIMS, n: at }));
    expect(await Promise.all(tokens.map((token) => status(token)))).toEqual(tokens.map(() => 200));
    expect(asked()).toBe(1);
  });

  it('is fetched again for an unknown kid, at most once in 30 s', async () => {
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
    expect(await status(keyToken(OTHER, CLAIMS))).toBe(401);
    expect(asked()).toBe(1);
    pass(30_000);
    await keyServer.publish('/keys', KEY, OTHER);
    expect(await status(keyToken(OTHER, CLAIMS))).toBe(200);
    expect(asked()).toBe(2);
    for (let at = 0; at < 5; at += 1) expect(await status(keyToken(makeKey('ES256', `k${at}`), CLAIMS))).toBe(401);
    expect(asked()).toBe(2);
  });

  it('is fetched again after five minutes: a withdrawn key does not count any more', async () => {
    const token = await keyToken(KEY, CLAIMS);
    expect(await status(token)).toBe(200);
    await keyServer.publish('/keys', OTHER);
    pass(299_000);
    expect(await status(token)).toBe(200);
    pass(1_000);
    expect(await status(token)).toBe(401);
  });

  it('stays in use while a new fetch fails, until it is five minutes old', async () => {
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
    keyServer.answers.delete('/keys');
    pass(60_000);
    expect(await status(keyToken(OTHER, CLAIMS))).toBe(401);
    expect(asked()).toBe(2);
    expect(await status(keyToken(KEY, { ...CLAIMS, again: 1 }))).toBe(200);
    pass(240_000);
    expect(await status(keyToken(KEY, CLAIMS))).toBe(401);
  });

  it('that could not be fetched is requested again after 10 s, and the log says why, without the token', async () => {
    keyServer.answers.delete('/keys');
    const token = await keyToken(KEY, CLAIMS);
    for (let at = 0; at < 5; at += 1) expect(await status(token)).toBe(401);
    expect(asked()).toBe(1);
    const log = area.log.join('');
    expect(log).toContain('key set unavailable');
    expect(log).toContain('status 404');
    expect(log).not.toContain(token.split('.')[2]);
    await keyServer.publish('/keys', KEY);
    pass(10_000);
    expect(await status(token)).toBe(200);
  });

  it('is not requested with a password, and none is in the log', async () => {
    addProvider('Q', 'https://q.example', `${keyServer.url}/keys?token=hush`.replace('//', '//me:hush@'));
    expect(await status(keyToken(KEY, { ...CLAIMS, iss: 'https://q.example' }))).toBe(401);
    expect(asked()).toBe(0);
    expect(area.log.join('')).toContain('key set unavailable');
    expect(area.log.join('')).not.toContain('hush');
  });

  it('is waited for 10 s in all where the server drips, while others are served', async () => {
    keyServer.answers.set('/drips', (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    addProvider('Drips', 'https://drips.example', `${keyServer.url}/drips`);
    const waiting = status(keyToken(KEY, { sub: 'x', iss: 'https://drips.example' }));
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
    expect(await waiting).toBe(401);
    expect(asked('/drips')).toBe(1);
  });
});

describe('what counts as a key set', () => {
  const jwks = async (...keys: SigningKey[]): Promise<string> =>
    JSON.stringify({ keys: await Promise.all(keys.map(publicJwk)) });
  const redirect = (path: string, location: string): unknown =>
    keyServer.answers.set(path, (_, response) => response.writeHead(302, { location }).end());
  const answer = (path: string, code: number, body: string | Buffer, headers = {}): unknown =>
    keyServer.answers.set(path, (_, response) => response.writeHead(code, headers).end(body));

  /** A path answers with our key set, changed. */
  const reply =
    (change: (text: string) => string | Buffer = (text) => text, code = 200, headers = {}) =>
    async (path: string): Promise<unknown> =>
      answer(path, code, change(await jwks(KEY)), headers);
  const gzipped = (text: string): Buffer => gzipSync(text.padEnd(9_000_000));
  const withOthers = (text: string): string => `{"keys":[{},{"kty":"oct","k":"eA","kid":"one"},${text.slice(9, -2)}]}`;
  const elsewhere = (): string => `${keyServer.url.replace('127.0.0.1', 'localhost')}/keys`;

  it.each<readonly [string, (path: string) => Promise<unknown>, number]>([
    ['a redirect to the same origin', async (path) => redirect(path, '/keys'), 200],
    ['a relative redirect', async (path) => redirect(path, 'keys'), 200],
    ['two redirects', async (path) => [redirect(path, '/second'), redirect('/second', '/keys')], 401],
    ['a redirect to another origin', async (path) => redirect(path, elsewhere()), 401],
    ['a redirect to nowhere', async (path) => redirect(path, 'http://'), 401],
    ['a status of 500', reply(undefined, 500), 401],
    ['a status of 201', reply(undefined, 201), 401],
    ['no JSON', reply(() => 'keys'), 401],
    ['an object without keys', reply(() => '{"keys":{}}'), 401],
    ['a megabyte', reply((text) => text.padEnd(1_048_576)), 200],
    ['a megabyte and a byte', reply((text) => text.padEnd(1_048_577)), 401],
    ['much more in a small compressed document', reply(gzipped, 200, { 'content-encoding': 'gzip' }), 401],
    ['keys of other kinds together with ours', reply(withOthers), 200],
    ['our kid twice', async (path) => answer(path, 200, await jwks(KEY, makeKey('ES256', 'one'))), 401],
    ['our key for encryption', reply((text) => text.replace('"sig"', '"enc"')), 401],
    ['our key for another algorithm', reply((text) => text.replace('"use"', '"alg":"ES384","use"')), 401],
    ['our key with a broken point', reply((text) => text.replace(/"x":"...../, '"x":"AAAAA')), 401],
  ])('%s', async (_, prepare, expected) => {
    addProvider('Q', 'https://q.example', `${keyServer.url}/q`);
    addMember('q', 'Q');
    await prepare('/q');
    expect(await status(keyToken(KEY, { sub: 'q', iss: 'https://q.example' }))).toBe(expected);
  });
});

describe('configured services', () => {
  it('are tried in order; while one cannot be reached the next decides, and nothing of it is remembered', async () => {
    using directory = temporaryDirectory();
    const configured = makeKey('RS256', 'any');
    directory.writeLines('key.pem', [pem(configured)]);
    const authServices = [
      { type: 'jwt-rs-256-crt', certificate: directory.at('key.pem') },
      { type: 'jwt-jwks', url: `${keyServer.url}/first` },
      { type: 'jwt-jwks', url: `${keyServer.url}/keys`, targetScope: 'second' },
    ];
    await using own = await startArea({ authServices });
    addMember('own', '', own);
    expect(await status(keyToken(configured, { sub: 'own' }), own)).toBe(200);
    expect(asked('/first')).toBe(0);
    const token = await keyToken(KEY, { sub: 'own', aud: 'other-participant-id', scope: 'daml_ledger_api second' });
    expect(await status(token, own)).toBe(200);
    await keyServer.publish('/first', KEY);
    pass(10_000);
    // The first one binds it to another participant.
    expect(await status(token, own)).toBe(403);
    expect([asked('/first'), asked()]).toEqual([2, 1]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyToken, makeKey, publicJwk, type SigningKey } from '../../support/users/keys.ts';
import { CLAIMS, KEY, type ProviderArea, startProviderArea } from '../../support/users/provider.ts';

const OTHER = makeKey('ES256', 'two');

let on: ProviderArea;
beforeEach(async () => {
  on = await startProviderArea();
});
afterEach(() => on[Symbol.asyncDispose]());

describe('the key set of an identity provider', () => {
  it('is not requested with a password, and none is in the log', async () => {
    on.addProvider('Q', 'https://q.example', `${on.keyServer.url}/keys?token=hush`.replace('//', '//me:hush@'));
    expect(await on.status(keyToken(KEY, { ...CLAIMS, iss: 'https://q.example' }))).toBe(401);
    expect(on.asked()).toBe(0);
    expect(on.area.log.join('')).toContain('key set unavailable');
    expect(on.area.log.join('')).not.toContain('hush');
  });

  it('is fetched once for many tokens, also at the same time', async () => {
    const tokens = Array.from({ length: 20 }, (_, at) => keyToken(KEY, { ...CLAIMS, n: at }));
    expect(await Promise.all(tokens.map(on.status))).toEqual(tokens.map(() => 200));
    expect(on.asked()).toBe(1);
  });

  it('is fetched again for an unknown kid, at most once in 30 s', async () => {
    expect(await on.status(keyToken(KEY, CLAIMS))).toBe(200);
    expect(await on.status(keyToken(OTHER, CLAIMS))).toBe(401);
    expect(on.asked()).toBe(1);
    on.clock.nowMs += 30_000;
    await on.keyServer.publish('/keys', KEY, OTHER);
    expect(await on.status(keyToken(OTHER, CLAIMS))).toBe(200);
    expect(on.asked()).toBe(2);
    for (let at = 0; at < 10; at += 1) expect(await on.status(keyToken(makeKey('ES256', `k${at}`), CLAIMS))).toBe(401);
    expect(on.asked()).toBe(2);
  });

  it('is fetched again after five minutes: a withdrawn key does not count any more', async () => {
    const token = await keyToken(KEY, CLAIMS);
    expect(await on.status(token)).toBe(200);
    await on.keyServer.publish('/keys', OTHER);
    on.clock.nowMs += 299_000;
    expect(await on.status(token)).toBe(200);
    on.clock.nowMs += 1_000;
    expect(await on.status(token)).toBe(401);
  });

  it('stays in use while a refetch fails, until it is five minutes old', async () => {
    expect(await on.status(keyToken(KEY, CLAIMS))).toBe(200);
    on.keyServer.answers.delete('/keys');
    on.clock.nowMs += 60_000;
    expect(await on.status(keyToken(OTHER, CLAIMS))).toBe(401);
    expect(on.asked()).toBe(2);
    expect(await on.status(keyToken(KEY, { ...CLAIMS, again: 1 }))).toBe(200);
    on.clock.nowMs += 240_000;
    expect(await on.status(keyToken(KEY, CLAIMS))).toBe(401);
  });

  it('that could not be fetched is requested again after 10 s', async () => {
    on.keyServer.answers.delete('/keys');
    for (let at = 0; at < 5; at += 1) expect(await on.status(keyToken(KEY, CLAIMS))).toBe(401);
    expect(on.asked()).toBe(1);
    await on.keyServer.publish('/keys', KEY);
    on.clock.nowMs += 10_000;
    expect(await on.status(keyToken(KEY, CLAIMS))).toBe(200);
  });

  it('that no server has is named in the log, without the token', async () => {
    on.keyServer.answers.delete('/keys');
    const token = await keyToken(KEY, CLAIMS);
    expect(await on.status(token)).toBe(401);
    const log = on.area.log.join('');
    expect(log).toContain('key set unavailable');
    expect(log).toContain('status 404');
    expect(log).not.toContain(token.split('.')[2]);
  });
});

describe('what counts as no key set', () => {
  const jwks = async (...keys: SigningKey[]): Promise<string> =>
    JSON.stringify({ keys: await Promise.all(keys.map(publicJwk)) });

  it.each<readonly [string, (path: string) => Promise<void>, number]>([
    ['a redirect to the same origin', async (path) => redirect(path, '/keys'), 200],
    ['a relative redirect', async (path) => redirect(path, 'keys'), 200],
    [
      'two redirects',
      async (path) => {
        redirect(path, '/second');
        redirect('/second', '/keys');
      },
      401,
    ],
    [
      'a redirect to another origin',
      async (path) => redirect(path, `${on.keyServer.url.replace('127.0.0.1', 'localhost')}/keys`),
      401,
    ],
    ['a redirect to nowhere', async (path) => redirect(path, 'http://'), 401],
    ['another status than 200', async (path) => answer(path, 500, await jwks(KEY)), 401],
    ['a status of 201', async (path) => answer(path, 201, await jwks(KEY)), 401],
    ['no JSON', async (path) => answer(path, 200, 'keys'), 401],
    ['a list', async (path) => answer(path, 200, '[]'), 401],
    ['an object without keys', async (path) => answer(path, 200, '{"keys":{}}'), 401],
    ['a megabyte', async (path) => answer(path, 200, (await jwks(KEY)).padEnd(1_048_576)), 200],
    ['a megabyte and a byte', async (path) => answer(path, 200, (await jwks(KEY)).padEnd(1_048_577)), 401],
    [
      'keys of other kinds together with ours',
      async (path) =>
        answer(path, 200, `{"keys":[null,1,{},{"kty":"oct","k":"eA","kid":"one"},${(await jwks(KEY)).slice(9, -2)}]}`),
      200,
    ],
    ['our key for encryption', async (path) => answer(path, 200, (await jwks(KEY)).replace('"sig"', '"enc"')), 401],
    [
      'our key for another algorithm',
      async (path) => answer(path, 200, (await jwks(KEY)).replace('"use"', '"alg":"ES384","use"')),
      401,
    ],
    [
      'our key with a broken point',
      async (path) => answer(path, 200, (await jwks(KEY)).replace(/"x":"...../, '"x":"AAAAA')),
      401,
    ],
  ])('%s', async (_, prepare, expected) => {
    on.addProvider('Q', 'https://q.example', `${on.keyServer.url}/q`);
    on.addMember('q', 'Q');
    await prepare('/q');
    expect(await on.status(keyToken(KEY, { sub: 'q', iss: 'https://q.example' }))).toBe(expected);
  });

  function redirect(path: string, location: string): void {
    on.keyServer.answers.set(path, (_, response) => response.writeHead(302, { location }).end());
  }

  function answer(path: string, code: number, text: string): void {
    on.keyServer.answers.set(path, (_, response) => response.writeHead(code).end(text));
  }
});

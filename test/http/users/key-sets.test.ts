import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

const ISSUER = 'https://issuer.example';
const KEY = makeKey('ES256', 'one');
const OTHER = makeKey('ES256', 'two');
const CLAIMS = { sub: 'member', iss: ISSUER };

let keyServer: KeyServer;
let area: RunningArea;
let nowMs: number;

beforeEach(async () => {
  nowMs = Date.now();
  keyServer = await startKeyServer();
  await keyServer.publish('/keys', KEY);
  area = await startArea({}, { nowMs: () => nowMs });
  addProvider('P', ISSUER, `${keyServer.url}/keys`);
  addMember('member', 'P');
});
afterEach(async () => {
  await area[Symbol.asyncDispose]();
  await keyServer[Symbol.asyncDispose]();
});

function addProvider(id: string, issuer: string, jwksUrl: string, audience = ''): void {
  area.users.write((users) => users.insertIdentityProvider({ id, isDeactivated: false, issuer, jwksUrl, audience }));
}

function addMember(id: string, identityProviderId: string): void {
  const user = { primaryParty: '', isDeactivated: false, primaryPartyAuthentication: false, resourceVersion: 0n };
  area.users.write((users) => users.insertUser({ ...user, id, identityProviderId, annotations: new Map() }));
}

async function status(token: string | Promise<string>): Promise<number> {
  const headers = { authorization: `Bearer ${await token}` };
  return (await fetch(`${area.url}/v2/authenticated-user`, { headers })).status;
}

const asked = (path = '/keys'): number => keyServer.asked.get(path) ?? 0;

describe('the key set of an identity provider', () => {
  it('is not asked for with a password, and none stands in the log', async () => {
    addProvider('Q', 'https://q.example', `${keyServer.url}/keys?token=hush`.replace('//', '//me:hush@'));
    expect(await status(keyToken(KEY, { ...CLAIMS, iss: 'https://q.example' }))).toBe(401);
    expect(asked()).toBe(0);
    expect(area.log.join('')).toContain('key set unavailable');
    expect(area.log.join('')).not.toContain('hush');
  });

  it('is fetched once for many tokens, also at the same time', async () => {
    const tokens = Array.from({ length: 20 }, (_, at) => keyToken(KEY, { ...CLAIMS, n: at }));
    expect(await Promise.all(tokens.map(status))).toEqual(tokens.map(() => 200));
    expect(asked()).toBe(1);
  });

  it('is fetched again for an unknown kid, at most once in 30 s', async () => {
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
    expect(await status(keyToken(OTHER, CLAIMS))).toBe(401);
    expect(asked()).toBe(1);
    nowMs += 30_000;
    await keyServer.publish('/keys', KEY, OTHER);
    expect(await status(keyToken(OTHER, CLAIMS))).toBe(200);
    expect(asked()).toBe(2);
    for (let at = 0; at < 10; at += 1) expect(await status(keyToken(makeKey('ES256', `k${at}`), CLAIMS))).toBe(401);
    expect(asked()).toBe(2);
  });

  it('is fetched again after five minutes: a withdrawn key does not count any more', async () => {
    const token = await keyToken(KEY, CLAIMS);
    expect(await status(token)).toBe(200);
    await keyServer.publish('/keys', OTHER);
    nowMs += 299_000;
    expect(await status(token)).toBe(200);
    nowMs += 1_000;
    expect(await status(token)).toBe(401);
  });

  it('stays in use while a refetch fails, until it is five minutes old', async () => {
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
    keyServer.answers.delete('/keys');
    nowMs += 60_000;
    expect(await status(keyToken(OTHER, CLAIMS))).toBe(401);
    expect(asked()).toBe(2);
    expect(await status(keyToken(KEY, { ...CLAIMS, again: 1 }))).toBe(200);
    nowMs += 240_000;
    expect(await status(keyToken(KEY, CLAIMS))).toBe(401);
  });

  it('that could not be had is asked for again after 10 s', async () => {
    keyServer.answers.delete('/keys');
    for (let at = 0; at < 5; at += 1) expect(await status(keyToken(KEY, CLAIMS))).toBe(401);
    expect(asked()).toBe(1);
    await keyServer.publish('/keys', KEY);
    nowMs += 10_000;
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
  });

  it('that nobody serves is told in the log, without the token', async () => {
    keyServer.answers.delete('/keys');
    const token = await keyToken(KEY, CLAIMS);
    expect(await status(token)).toBe(401);
    const log = area.log.join('');
    expect(log).toContain('key set unavailable');
    expect(log).toContain('status 404');
    expect(log).not.toContain(token.split('.')[2]);
  });

  it('slows down nobody else when its server never answers', async () => {
    keyServer.answers.set('/hangs', () => {});
    addProvider('Hangs', 'https://hangs.example', `${keyServer.url}/hangs`);
    const waiting = status(keyToken(KEY, { sub: 'x', iss: 'https://hangs.example' }));
    const startMs = performance.now();
    expect(await status(keyToken(KEY, CLAIMS))).toBe(200);
    expect(await status(secretToken({ sub: 'participant_admin' }))).toBe(200);
    expect(performance.now() - startMs).toBeLessThan(3_000);
    expect(await waiting).toBe(401);
    expect(asked('/hangs')).toBe(1);
  });
});

/** A service before all identity providers; a user of its own is none of theirs, so the status tells who vouched. */
describe('of several services that vouch, the first in order', () => {
  let first: KeyServer;
  let open: ServerResponse[];
  beforeEach(async () => {
    first = await startKeyServer();
    open = [];
    await area[Symbol.asyncDispose]();
    area = await startArea({ authServices: [{ type: 'jwt-jwks', url: `${first.url}/keys` }] }, { nowMs: () => nowMs });
    addProvider('P', ISSUER, `${keyServer.url}/keys`);
    addMember('member', 'P');
    addMember('own', '');
  });
  afterEach(() => first[Symbol.asyncDispose]());

  const ownToken = (n: number): Promise<string> => keyToken(KEY, { ...CLAIMS, sub: 'own', n });
  const memberToken = (n: number): Promise<string> => keyToken(KEY, { ...CLAIMS, n });
  const hold = (): void => void first.answers.set('/keys', (_, response) => void open.push(response));
  async function release(...keys: readonly SigningKey[]): Promise<void> {
    await first.publish('/keys', ...keys);
    for (const response of open.splice(0)) first.answers.get('/keys')!(response.req, response);
  }
  const isHeld = (): Promise<void> => expect.poll(() => open.length).toBe(1);

  it('decides, however late its keys come', async () => {
    hold();
    const asking = [status(ownToken(1)), status(ownToken(2))];
    await isHeld();
    // Long enough for the keys of the provider, which are asked for at the same time.
    await expect.poll(() => asked()).toBe(1);
    await sleep(300);
    await release(KEY);
    expect(await Promise.all(asking)).toEqual([200, 200]);
  });

  it('that does not vouch leaves it to the next, whose keys are there by then', async () => {
    hold();
    const asking = status(memberToken(1));
    await isHeld();
    await expect.poll(() => asked()).toBe(1);
    await release(OTHER);
    expect(await asking).toBe(200);
    expect(asked()).toBe(1);
  });

  it('decides as well where its keys have grown old and those of the next have not', async () => {
    await first.publish('/keys', OTHER);
    expect(await status(keyToken(OTHER, { sub: 'own' }))).toBe(200);
    expect(asked()).toBe(0);
    nowMs += 10_000;
    expect(await status(memberToken(1))).toBe(200);
    nowMs += 295_000;
    hold();
    const asking = status(ownToken(1));
    await isHeld();
    await release(KEY);
    expect(await asking).toBe(200);
    expect(asked()).toBe(1);
  });

  it('is passed over while its keys cannot be had, and holds up nobody whom another vouches for', async () => {
    first.answers.set('/keys', (_, response) => response.writeHead(503).end());
    expect(await status(memberToken(1))).toBe(200);
    nowMs += 10_000;
    hold();
    for (let n = 0; n < 5; n += 1) {
      expect(await status(memberToken(n))).toBe(200);
      await isHeld();
      expect(open[0]!.writableEnded || open[0]!.destroyed).toBe(false);
    }
    // Whom nobody else vouches for waits for it.
    const asking = status(keyToken(OTHER, { ...CLAIMS, sub: 'own' }));
    expect(await status(ownToken(1))).toBe(403);
    await release(KEY, OTHER);
    expect(await asking).toBe(200);
    // What was decided without it is not believed for longer.
    expect(await status(ownToken(1))).toBe(200);
    expect(first.asked.get('/keys')).toBe(2);
  });

  it('holds nobody up for longer than one fetch may take, and only the first time', async () => {
    hold();
    expect(await Promise.all([status(memberToken(1)), status(memberToken(2))])).toEqual([200, 200]);
    nowMs += 10_000;
    expect(await status(memberToken(3))).toBe(200);
    await expect.poll(() => open.length).toBe(2);
    expect(open.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  });
});

describe('configured services', () => {
  it('are asked for their keys in order as well, and one that needs no fetch counts at its place', async () => {
    using directory = temporaryDirectory();
    const configured = makeKey('RS256', 'any');
    directory.writeLines('key.pem', [pem(configured)]);
    const authServices = [
      { type: 'jwt-rs-256-crt', certificate: directory.at('key.pem') },
      { type: 'jwt-jwks', url: `${keyServer.url}/keys` },
    ];
    await using services = await startArea({ authServices });
    for (const [key, fetches] of [
      [configured, 0],
      [KEY, 1],
      [configured, 1],
    ] as const) {
      const headers = { authorization: `Bearer ${await keyToken(key, { sub: 'participant_admin', fetches })}` };
      expect((await fetch(`${services.url}/v2/authenticated-user`, { headers })).status).toBe(200);
      expect(asked()).toBe(fetches);
    }
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
      async (path) => redirect(path, `${keyServer.url.replace('127.0.0.1', 'localhost')}/keys`),
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
      'keys of other kinds beside ours',
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
    addProvider('Q', 'https://q.example', `${keyServer.url}/q`);
    addMember('q', 'Q');
    await prepare('/q');
    expect(await status(keyToken(KEY, { sub: 'q', iss: 'https://q.example' }))).toBe(expected);
  });

  function redirect(path: string, location: string): void {
    keyServer.answers.set(path, (_, response) => response.writeHead(302, { location }).end());
  }

  function answer(path: string, code: number, text: string): void {
    keyServer.answers.set(path, (_, response) => response.writeHead(code).end(text));
  }
});

describe('C31 tokens of an identity provider', () => {
  it.each<readonly [string, () => Promise<string>, number]>([
    ['with its key and issuer', () => keyToken(KEY, CLAIMS), 200],
    ['without a kid', () => keyToken(KEY, CLAIMS, { kid: undefined }), 401],
    ['with a foreign key under a known kid', () => keyToken(makeKey('ES256', 'one'), CLAIMS), 401],
    ['with an issuer that nobody has', () => keyToken(KEY, { ...CLAIMS, iss: 'https://other.example' }), 401],
    ['without an issuer', () => keyToken(KEY, { ...CLAIMS, iss: undefined }), 401],
    ['without the scope', () => keyToken(KEY, { ...CLAIMS, scope: undefined }), 401],
    ['for another participant', () => keyToken(KEY, { ...CLAIMS, aud: 'other' }), 403],
    ['for a user of the default provider', () => keyToken(KEY, { ...CLAIMS, sub: 'participant_admin' }), 403],
  ])('%s', async (_, token, expected) => {
    expect(await status(token())).toBe(expected);
  });

  it('of the default services are of the default provider, whatever their issuer', async () => {
    expect(await status(secretToken({ sub: 'participant_admin', iss: ISSUER }))).toBe(200);
    expect(await status(secretToken(CLAIMS))).toBe(403);
  });

  it('need the audience that the provider asks for, and then no scope', async () => {
    addProvider('A', 'https://a.example', `${keyServer.url}/keys`, 'ours');
    addMember('a', 'A');
    const claims = { sub: 'a', iss: 'https://a.example', scope: undefined };
    expect(await status(keyToken(KEY, { ...claims, aud: ['x', 'ours'] }))).toBe(200);
    expect(await status(keyToken(KEY, { ...claims, aud: 'x' }))).toBe(401);
    expect(await status(keyToken(KEY, { ...claims, scope: 'daml_ledger_api' }))).toBe(401);
  });
});

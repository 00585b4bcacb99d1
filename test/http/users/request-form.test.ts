import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../support/users/cases.ts';
import { startWorld, type World } from '../../support/users/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const RECORD = 'GET /v2/authenticated-user';

/** Sends header lines as they are, which fetch does not: twice, or with odd names and targets. */
function raw(target: string, lines: readonly (readonly [string, string])[], method = 'GET'): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(world.area.url);
    const request = httpRequest({ hostname, port, path: target, method, headers: lines.flat() }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(`${response.statusCode} ${response.headers['content-type'] ?? ''} ${text}`));
    });
    request.on('error', reject);
    request.end();
  });
}

const HOST_AND = (authorization: string): readonly (readonly [string, string])[] => [
  ['Host', 'localhost'],
  ['Authorization', authorization],
];

describe('how a token is sent', () => {
  it.each(
    `
C1 a bearer without a token | Authorization: Bearer | 400 text/plain; charset=UTF-8 Invalid value for: header Authorization
C1 the same with a space | Authorization: Bearer SPACE | 400 text/plain; charset=UTF-8 Invalid value for: header Authorization
C2 two bearers | Authorization: Bearer TOKEN & Authorization: Bearer TOKEN | 400 text/plain
C2 a bearer and another scheme | Authorization: Basic eDp5 & Authorization: Bearer TOKEN | 200 application/json
C2 two bearers in one line | Authorization: Bearer TOKEN, Bearer TOKEN | 400 text/plain
C3 another scheme | Authorization: Basic TOKEN | 401 application/json
C3 a scheme that begins like it | Authorization: BearerX TOKEN | 401 application/json
C3 no scheme | Authorization: TOKEN | 401 application/json
C3 an empty header | Authorization:  | 401 application/json
C34 bearer in small letters | authorization: bearer TOKEN | 200 application/json
C34 BEARER in capitals | AUTHORIZATION: BEARER TOKEN | 200 application/json
C35 a WebSocket protocol | Sec-WebSocket-Protocol: daml.ws.auth, jwt.token.TOKEN | 200 application/json
C35 both: Authorization wins | Sec-WebSocket-Protocol: jwt.token.TOKEN & Authorization: Bearer x.y.z | 401 application/json
C35 a scheme that is no bearer leaves the protocol | Sec-WebSocket-Protocol: jwt.token.TOKEN & Authorization: Basic eDp5 | 200 application/json
C35 a WebSocket protocol of another name | Sec-WebSocket-Protocol: TOKEN | 401 application/json`
      .slice(1)
      .split('\n')
      .map((line) => line.split(' | ') as [string, string, string]),
  )('%s', async (_, lines, expected) => {
    const token = (await world.token('plain'))!;
    const sent = lines.replaceAll('TOKEN', token).replaceAll('SPACE', '').split(' & ');
    const headers = sent.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
    expect(await raw('/v2/authenticated-user', [['Host', 'localhost'], ...headers])).toContain(expected);
  });

  it('never requests a token by WWW-Authenticate', async () => {
    expect((await ask(world, 'nobody', RECORD)).headers.has('www-authenticate')).toBe(false);
  });
});

describe('paths and methods', () => {
  it.each([
    ['/v2', 'GET', '404'],
    ['/v2/', 'GET', '404'],
    ['/v2/nothing', 'GET', '404'],
    ['/v2/users/a/rights/b', 'GET', '404'],
    ['/v2/users//', 'GET', '404'],
    ['/v2/users', 'PUT', '405'],
    ['/v2/users/a/rights', 'DELETE', '405'],
    ['/v2/users/a/identity-provider-id', 'GET', '405'],
    ['/v2/version', 'POST', '405'],
    ['/v2/users', 'OPTIONS', '405'],
  ])('%s %s: %s', async (path, method, expected) => {
    const answered = await ask(world, 'nobody', `${method} ${path}`);
    expect(answered.status).toBe(Number(expected));
    if (expected === '405') {
      expect(answered.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(answered.text).toBe('Method Not Allowed');
    } else {
      expect(answered.headers.get('content-type')).toBe('application/json');
      const errors = [expect.stringMatching(new RegExp(`^HttpMethod\\(${method}\\), uri: .*${path}$`))];
      expect(JSON.parse(answered.text)).toEqual({ errors, status: 404, ledgerApiError: null });
    }
  });

  it('says which methods there are', async () => {
    expect((await ask(world, 'nobody', 'PUT /v2/users')).headers.get('allow')).toBe('GET, POST, HEAD');
  });

  it.each([
    '/v2/users/.',
    '/v2/users/../idps',
    '/v2/users/..?identity-provider-id=X',
    'http://localhost/v2/users/../idps',
  ])('refuses steps within a path, whoever asks: %s', async (target) => {
    for (const authorization of [`Bearer ${await world.token('admin')}`, 'Bearer'])
      expect(await raw(target, HOST_AND(authorization))).toMatch(
        /^400 application\/json \{"error":"request target: given /,
      );
  });

  it.each([
    ['a..b', 'a..b'],
    ['...', '%2e%2e%2e'],
  ])('takes dots that are a part of an id: %s as %s', async (id, sent) => {
    expect((await ask(world, 'admin', 'POST /v2/users', JSON.stringify({ user: { id } }))).status).toBe(200);
    const lines = HOST_AND(`Bearer ${await world.token('admin')}`);
    expect(await raw(`/v2/users/${sent}`, lines)).toContain(`{"user":{"id":"${id}"`);
  });

  it('takes an encoded slash as a part of an id, and dots next to it', async () => {
    const config = { identityProviderId: 'a/../b', issuer: 'https://dots.example', jwksUrl: 'https://dots.example' };
    const made = await ask(world, 'admin', 'POST /v2/idps', JSON.stringify({ identityProviderConfig: config }));
    expect(made.status).toBe(200);
    const lines = HOST_AND(`Bearer ${await world.token('admin')}`);
    expect(await raw('/v2/idps/a%2F..%2fb', lines)).toContain('"identityProviderId":"a/../b"');
  });

  it('answers HEAD as GET without a body', async () => {
    const answered = await ask(world, 'plain', 'HEAD /v2/authenticated-user');
    expect([answered.status, answered.text]).toEqual([200, '']);
    expect((await ask(world, 'nobody', 'HEAD /v2/authenticated-user')).status).toBe(401);
    expect((await ask(world, 'nobody', 'HEAD /v2/users/a/identity-provider-id')).status).toBe(405);
  });
});

describe('the order of the checks', () => {
  it('names a user that cannot be resolved before a bad body', async () => {
    expect((await ask(world, 'stranger', 'POST /v2/users', '{')).status).toBe(403);
  });

  it('names a bad body before a missing token, and before a token for another participant', async () => {
    expect((await ask(world, 'nobody', 'POST /v2/users', '{')).status).toBe(400);
    expect((await ask(world, 'nobody', 'POST /v2/users', '{}')).status).toBe(401);
  });

  it('names a bad query before everything else', async () => {
    expect((await ask(world, 'stranger', 'GET /v2/users?pageSize=x')).text).toBe(
      'Invalid value for: query parameter pageSize',
    );
  });

  it.each([
    ['text/html', 406],
    ['application/xml, text/*;q=0.5', 406],
    ['application/json;q=0', 406],
    ['*/*;q=0', 406],
    ['application/json;q=0, */*', 406],
    ['application/json', 200],
    ['text/html, application/json;q=0.1', 200],
    ['application/*', 200],
    ['*/*', 200],
    ['', 200],
  ])('Accept: %s is %i', async (accept, expected) => {
    const answered = await ask(world, 'plain', RECORD, null, { accept });
    expect(answered.status).toBe(expected);
    if (expected === 406) expect(answered.text).toBe('');
    expect((await ask(world, 'nobody', 'GET /v2/version', null, { accept })).status).toBe(expected);
  });

  it('names Accept after a bad body and before a missing token', async () => {
    const accept = { accept: 'text/html' };
    expect((await ask(world, 'nobody', 'POST /v2/users', '{', accept)).status).toBe(400);
    expect((await ask(world, 'nobody', 'POST /v2/users', '{}', accept)).status).toBe(406);
  });

  it('does not look at the Content-Type', async () => {
    const body = '{"user":{"id":"typed"}}';
    expect((await ask(world, 'admin', 'POST /v2/users', body, { 'content-type': 'text/xml' })).status).toBe(200);
  });
});

describe('a body said to be compressed', () => {
  const body = '{"user":{"id":"packed"}}';

  it.each(['gzip', 'br', 'x-unknown', 'gzip, identity'])('is refused with what is expected: %s', async (coding) => {
    const answered = await ask(world, 'admin', 'POST /v2/users', body, { 'content-encoding': coding });
    expect(answered.status).toBe(400);
    expect(answered.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(answered.text).toBe(`Invalid value for: body (Content-Encoding: given "${coding}", expected none)`);
  });
});

describe('/v2/version', () => {
  it('needs no token and looks at none', async () => {
    const answered = await ask(world, 'nobody', 'GET /v2/version', null, { authorization: 'Bearer' });
    expect(answered.status).toBe(200);
    expect(JSON.parse(answered.text)).toMatchObject({
      version: '3.4.0',
      features: { userManagement: { supported: true, maxRightsPerUser: 1000, maxUsersPageSize: 1000 } },
    });
  });
});

describe('the id of a request', () => {
  const id = '0af7651916cd43dd8448eb211c80319c';

  it.each([
    [`00-${id}-b7ad6b7169203331-01`, id],
    [`00-${'0'.repeat(32)}-b7ad6b7169203331-01`, null],
    ['nonsense', null],
    [`00-${id.toUpperCase()}-b7ad6b7169203331-01`, null],
  ])('traceparent %s', async (traceparent, expected) => {
    const { text } = await ask(world, 'nobody', RECORD, null, { traceparent });
    const { traceId } = JSON.parse(text) as { traceId: string };
    if (expected === null) expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    else expect(traceId).toBe(expected);
    expect(traceId).not.toBe('0'.repeat(32));
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../support/users/cases.ts';
import { keyToken, makeKey } from '../../support/users/keys.ts';
import { ISSUER, startWorld, type World } from '../../support/users/world.ts';

const RECORD = 'GET /v2/authenticated-user';
const provider = (fields: object): string =>
  JSON.stringify({
    identityProviderConfig: { identityProviderId: 'X', ...fields },
    updateMask: { paths: ['is_deactivated', 'issuer', 'jwks_url', 'audience'] },
  });
const user = (fields: object, ...paths: string[]): string =>
  JSON.stringify({ user: { id: 'xplain', identityProviderId: 'X', ...fields }, updateMask: { paths } });
const moved = (targetIdentityProviderId: string): string =>
  JSON.stringify({ userId: 'xplain', sourceIdentityProviderId: 'X', targetIdentityProviderId });

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const outcome = async (who: string, request: string): Promise<string> => {
  const { status, text } = await ask(world, who, request);
  return `${status}${text.includes('ledger_api_error') ? ' LAE' : ''}`;
};

/** What the administrator changes, and what the very next request with a token that was in use gets. */
const CHANGES: readonly (readonly [what: string, change: string, body: string, expected: string])[] = [
  ['its user is deactivated', 'users/xplain', user({ isDeactivated: true }, 'is_deactivated'), '403 LAE'],
  ['its user is moved to another provider', 'users/xplain/identity-provider-id', moved('Y'), '403 LAE'],
  ['its user is moved to the default provider', 'users/xplain/identity-provider-id', moved(''), '403 LAE'],
  ['its provider is deactivated', 'idps/X', provider({ isDeactivated: true }), '401'],
  ['its provider gets another issuer', 'idps/X', provider({ issuer: 'https://other.example' }), '401'],
  ['its provider gets keys of another URL', 'idps/X', provider({ jwksUrl: 'KEYS/Y' }), '401'],
  ['its provider asks for an audience', 'idps/X', provider({ audience: 'ours' }), '401'],
  ['another provider changes', 'idps/Y', provider({ identityProviderId: 'Y', isDeactivated: true }), '200'],
  ['its user changes otherwise', 'users/xplain', user({ primaryParty: 'p' }, 'primary_party'), '200'],
];

describe('a token that was verified before', () => {
  it.each(CHANGES)('when %s', async (_, change, body, expected) => {
    for (let times = 0; times < 3; times += 1) expect(await outcome('xplain', RECORD)).toBe('200');
    const sent = body.replace('KEYS', world.keyServer.url);
    expect((await ask(world, 'admin', `PATCH /v2/${change}`, sent)).status).toBe(200);
    expect(await outcome('xplain', RECORD)).toBe(expected);
  });

  it('is refused when its user is deleted, and taken when there is one again', async () => {
    expect(await outcome('xplain', RECORD)).toBe('200');
    expect((await ask(world, 'xadmin', 'DELETE /v2/users/xplain')).status).toBe(200);
    expect(await outcome('xplain', RECORD)).toBe('403 LAE');
    expect((await ask(world, 'xadmin', 'POST /v2/users', '{"user":{"id":"xplain"}}')).status).toBe(200);
    expect(await outcome('xplain', RECORD)).toBe('200');
  });

  it('is refused when its provider is gone, also under a new one of the same name', async () => {
    const away = (id: string): string => JSON.stringify({ userId: id, sourceIdentityProviderId: 'X' });
    const { keyServer } = world;
    expect(await outcome('xplain', RECORD)).toBe('200');
    for (const id of ['xadmin', 'xplain', 'xpa'])
      expect((await ask(world, 'admin', `PATCH /v2/users/${id}/identity-provider-id`, away(id))).status).toBe(200);
    expect((await ask(world, 'admin', 'DELETE /v2/idps/X')).status).toBe(200);
    expect(await outcome('xplain', RECORD)).toBe('401');
    const again = { identityProviderId: 'X', issuer: ISSUER.X, jwksUrl: `${keyServer.url}/Y` };
    expect((await ask(world, 'admin', 'POST /v2/idps', JSON.stringify({ identityProviderConfig: again }))).status).toBe(
      200,
    );
    expect(await outcome('xplain', RECORD)).toBe('401');
  });

  it('loses a right with the very next request, and gets it back so', async () => {
    const rights =
      '{"userId":"xadmin","identityProviderId":"X","rights":[{"kind":{"IdentityProviderAdmin":{"value":{}}}}]}';
    for (let times = 0; times < 5; times += 1) {
      expect(await outcome('xadmin', 'GET /v2/users')).toBe('200');
      expect((await ask(world, 'admin', 'PATCH /v2/users/xadmin/rights', rights)).status).toBe(200);
      expect(await outcome('xadmin', 'GET /v2/users')).toBe('403');
      expect((await ask(world, 'admin', 'POST /v2/users/xadmin/rights', rights)).status).toBe(200);
    }
  });
});

describe('a body that takes its time', () => {
  it('does not keep a right that was taken meanwhile', async () => {
    const { port } = new URL(world.area.url);
    let finish = (): void => {};
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('{"user":{"id":"late"'));
        finish = () => {
          controller.enqueue(Buffer.from('}}'));
          controller.close();
        };
      },
    });
    const headers = { authorization: `Bearer ${await world.token('xadmin')}` };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const answered = fetch(`http://127.0.0.1:${port}/v2/users`, init);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await ask(world, 'admin', 'PATCH /v2/idps/X', provider({ isDeactivated: true }))).status).toBe(200);
    finish();
    expect((await answered).status).toBe(401);
    expect((await ask(world, 'admin', 'GET /v2/users/late?identity-provider-id=X')).status).toBe(404);
  });
});

describe('the memory of verified tokens', () => {
  it('does not take a token of a key for one of another', async () => {
    const [one, two] = [makeKey('ES256', 'same'), makeKey('ES256', 'same')];
    const claims = { sub: 'xplain', iss: ISSUER.X };
    await world.keyServer.publish('/X', one);
    const [first, second] = [await keyToken(one, claims), await keyToken(two, claims)];
    expect(await outcome(first, RECORD)).toBe('200');
    expect(await outcome(second, RECORD)).toBe('401');
    expect(await outcome(first, RECORD)).toBe('200');
  });
});

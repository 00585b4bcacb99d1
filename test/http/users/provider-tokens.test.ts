import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyToken, makeKey, secretToken } from '../../support/users/keys.ts';
import { CLAIMS, ISSUER, KEY, type ProviderArea, startProviderArea } from '../../support/users/provider.ts';

let on: ProviderArea;
beforeEach(async () => {
  on = await startProviderArea();
});
afterEach(() => on[Symbol.asyncDispose]());

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
  ])('%s', async (_, token, expected) => {
    expect(await on.status(token())).toBe(expected);
  });

  it('of the default services are of the default provider, whatever their issuer', async () => {
    expect(await on.status(secretToken({ sub: 'participant_admin', iss: ISSUER }))).toBe(200);
    expect(await on.status(secretToken(CLAIMS))).toBe(403);
  });

  it('need the audience that the provider requires, and then no scope', async () => {
    on.addProvider('A', 'https://a.example', `${on.keyServer.url}/keys`, 'ours');
    on.addMember('a', 'A');
    const claims = { sub: 'a', iss: 'https://a.example', scope: undefined };
    expect(await on.status(keyToken(KEY, { ...claims, aud: ['x', 'ours'] }))).toBe(200);
    expect(await on.status(keyToken(KEY, { ...claims, aud: 'x' }))).toBe(401);
    expect(await on.status(keyToken(KEY, { ...claims, scope: 'daml_ledger_api' }))).toBe(401);
  });
});

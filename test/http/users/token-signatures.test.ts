import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompactSign } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningArea, startArea } from '../../support/users/area.ts';
import {
  type KeyServer,
  keyToken,
  lawfulClaims,
  makeKey,
  pem,
  privatePem,
  SECRET,
  secretToken,
  startKeyServer,
} from '../../support/users/keys.ts';

const CLAIMS = { sub: 'participant_admin' };
const KEYS = { rs: makeKey('RS256', 'rs'), es: makeKey('ES256', 'es'), es5: makeKey('ES512', 'es5') };
const SET = { rs: makeKey('RS256', 'rs'), es: makeKey('ES256', 'es'), es5: makeKey('ES512', 'es5') };
const STRANGER = { rs: makeKey('RS256', 'rs'), es: makeKey('ES256', 'es'), es5: makeKey('ES512', 'es5') };

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = (): Record<string, unknown> => ({ ...lawfulClaims(), ...CLAIMS });

/** Signed with HMAC by hand, as no library would: any header, any key. */
function forged(header: object, key: string | Buffer, payload: object = claims()): string {
  const signed = `${part(header)}.${part(payload)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

function compact(header: { alg: string } & Record<string, unknown>, payload: string): Promise<string> {
  return new CompactSign(Buffer.from(payload)).setProtectedHeader(header).sign(new TextEncoder().encode(SECRET));
}

describe('signatures', () => {
  let area: RunningArea;
  let keyServer: KeyServer;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-keys-'));
    keyServer = await startKeyServer();
    await keyServer.publish('/keys', SET.rs, SET.es, SET.es5);
    for (const [name, key] of Object.entries(KEYS)) {
      writeFileSync(join(folder, `${name}.pem`), pem(key));
      writeFileSync(join(folder, `${name}.key`), privatePem(key));
    }
    const subject = ['-subj', '/CN=holdfast test', '-days', '9'];
    execFileSync('openssl', ['req', '-x509', '-key', 'rs.key', '-out', 'rs.crt', ...subject], { cwd: folder });
    const authServices = [
      { type: 'jwt-jwks', url: `${keyServer.url}/keys` },
      { type: 'unsafe-jwt-hmac-256', secret: SECRET },
      { type: 'jwt-rs-256-crt', certificate: join(folder, 'rs.crt') },
      { type: 'jwt-es-256-crt', certificate: join(folder, 'es.pem') },
      { type: 'jwt-es-512-crt', certificate: join(folder, 'es5.pem') },
    ];
    area = await startArea({ authServices });
  });
  afterAll(async () => {
    await area[Symbol.asyncDispose]();
    await keyServer[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  async function status(token: string): Promise<number> {
    const response = await fetch(`${area.url}/v2/authenticated-user`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.status;
  }

  it.each([
    ['HS256 with the configured secret', () => secretToken(CLAIMS)],
    ['RS256 with the key of the certificate', () => keyToken(KEYS.rs, CLAIMS)],
    ['ES512 with the configured key', () => keyToken(KEYS.es5, CLAIMS)],
    ['a configured key and no kid', () => keyToken(KEYS.rs, CLAIMS, { kid: undefined })],
    ['RS256 with a key of the set', () => keyToken(SET.rs, CLAIMS)],
    ['ES256 with a key of the set', () => keyToken(SET.es, CLAIMS)],
    ['another typ', () => keyToken(SET.es, CLAIMS, { typ: 'at+jwt' })],
  ])('takes %s', async (_, token) => {
    expect(await status(await token())).toBe(200);
  });

  it.each<readonly [string, () => string | Promise<string>]>([
    ['another secret', () => secretToken(CLAIMS, 'another secret')],
    ['an empty secret', () => forged({ alg: 'HS256' }, '')],
    ['an unknown key, RS256', () => keyToken(STRANGER.rs, CLAIMS)],
    ['a key of the set without its kid', () => keyToken(SET.rs, CLAIMS, { kid: undefined })],
    ['a key of the set under the kid of another', () => keyToken(SET.rs, CLAIMS, { kid: 'es' })],
    ['a key of the set under a kid that is no text', () => forged({ alg: 'HS256', kid: 5 }, 'x')],
    ['alg none', () => `${part({ alg: 'none' })}.${part(claims())}.`],
    ['alg none with something for a signature', () => `${part({ alg: 'none' })}.${part(claims())}.AAAA`],
    ['alg HS256 over the PEM of a public key', () => forged({ alg: 'HS256' }, pem(KEYS.rs))],
    [
      'alg HS256 over the DER of a public key',
      () => forged({ alg: 'HS256' }, KEYS.es.publicKey.export({ type: 'spki', format: 'der' })),
    ],
    ['alg HS256 with the kid of a key of the set', () => forged({ alg: 'HS256', kid: 'rs' }, pem(SET.rs))],
    ['alg RS256 over an HMAC', () => forged({ alg: 'RS256' }, pem(KEYS.rs))],
    ['alg HS384 with the configured secret', () => compact({ alg: 'HS384' }, JSON.stringify(claims()))],
    ['alg hs256', () => forged({ alg: 'hs256' }, SECRET)],
    ['alg missing', () => forged({}, SECRET)],
    ['a key in the header', () => forged({ alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, 'x')],
    ['a URL of keys in the header', () => keyToken(STRANGER.rs, CLAIMS, { jku: 'http://127.0.0.1:1/keys' })],
    ['an unknown crit', () => forged({ alg: 'HS256', crit: ['exp'], exp: 1 }, SECRET)],
    ['an unencoded payload', () => forged({ alg: 'HS256', b64: false, crit: ['b64'] }, SECRET)],
    ['a kid that is SQL', () => keyToken(STRANGER.rs, CLAIMS, { kid: "' OR 1=1 --" })],
    ['a payload that is no object', () => compact({ alg: 'HS256' }, '[]')],
    ['four parts', async () => `${await secretToken(CLAIMS)}.AAAA`],
    ['no parts', () => 'token'],
    ['a signature cut short', async () => (await secretToken(CLAIMS)).slice(0, -4)],
    [
      'another payload with a valid signature',
      async () => (await secretToken({ sub: 'plain' })).replace(/\..*\./, `.${part(claims())}.`),
    ],
    ['base64 of the other alphabet', async () => (await secretToken(CLAIMS)).replace('.', '+.')],
  ])('refuses %s', async (_, token) => {
    expect(await status(await token())).toBe(401);
  });
});

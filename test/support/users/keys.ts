import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT } from 'jose';

export const SECRET = 'a secret of the tests, long enough for anyone';

/** A key pair with the algorithm it is for and the id that a key set gives it. */
export interface SigningKey {
  readonly algorithm: 'RS256' | 'ES256' | 'ES512';
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function makeKey(algorithm: SigningKey['algorithm'], keyId: string): SigningKey {
  const { privateKey, publicKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: algorithm === 'ES256' ? 'P-256' : 'P-521' });
  return { algorithm, keyId, privateKey, publicKey };
}

export async function publicJwk(key: SigningKey): Promise<Record<string, unknown>> {
  return { ...(await exportJWK(key.publicKey)), kid: key.keyId, use: 'sig' };
}

export function nowS(): number {
  return Math.floor(Date.now() / 1000);
}

/** What a valid token has besides its subject, unless a test says otherwise. */
export function lawfulClaims(): Record<string, unknown> {
  return { scope: 'daml_ledger_api', exp: nowS() + 3600 };
}

/** A token signed with the secret of the tests, or another one. Claims given as undefined are left out. */
export function secretToken(claims: Record<string, unknown>, secret: string | Uint8Array = SECRET): Promise<string> {
  const key = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
  return new SignJWT({ ...lawfulClaims(), ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key);
}

/** A token signed with a key; the header has the key's id unless another header is given. */
export function keyToken(key: SigningKey, claims: Record<string, unknown>, header: object = {}): Promise<string> {
  return new SignJWT({ ...lawfulClaims(), ...claims })
    .setProtectedHeader({ alg: key.algorithm, kid: key.keyId, ...header })
    .sign(key.privateKey);
}

export function pem(key: SigningKey): string {
  return key.publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

export function privatePem(key: SigningKey): string {
  return createPrivateKey(key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

export interface KeyServer extends AsyncDisposable {
  readonly url: string;
  /** Requests so far, by path. */
  readonly asked: Map<string, number>;
  /** What a path answers; a test may change it at any time. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** Has a path answer these keys. */
  publish(path: string, ...keys: readonly SigningKey[]): Promise<void>;
}

/** A server of key sets on a real socket, as an identity provider has one. */
export async function startKeyServer(): Promise<KeyServer> {
  const asked = new Map<string, number>();
  const answers: KeyServer['answers'] = new Map();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answers,
    async publish(path, ...keys) {
      const text = JSON.stringify({ keys: await Promise.all(keys.map(publicJwk)) });
      answers.set(path, (_request, response) => response.setHeader('content-type', 'application/json').end(text));
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

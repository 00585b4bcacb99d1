import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../src/refusal.ts';
import { parseUsersConfig, type UsersConfig } from '../../src/users/users-config.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

const pem = { type: 'spki', format: 'pem' } as const;
const rsa = (modulusLength: number): string =>
  String(generateKeyPairSync('rsa', { modulusLength }).publicKey.export(pem));
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const FILES: Readonly<Record<string, string>> = {
  'rsa.pem': rsa(2048),
  'short.pem': rsa(1024),
  'p256.pem': String(ec('P-256').publicKey.export(pem)),
  'p384.pem': String(ec('P-384').publicKey.export(pem)),
  'private.pem': String(ec('P-256').privateKey.export({ type: 'pkcs8', format: 'pem' })),
  'nothing.pem': 'hello',
  secret: 'from a file\n',
  'secret-crlf': 'from a file\r\n',
  'secret-spaces': ' from a file \n\n',
  empty: '\n',
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(directory.at(name), text);

const parse = (value: unknown): UsersConfig => parseUsersConfig({ value, folder: directory.path });
const hmac = (secret: unknown, rest: object = {}): object => ({
  authServices: [{ type: 'unsafe-jwt-hmac-256', secret, ...rest }],
});
const secretOf = (config: UsersConfig): string => {
  const [service] = config.authServices;
  return service?.kind === 'secret' ? Buffer.from(service.secret).toString() : '';
};

describe('the settings of the ledger', () => {
  it('have defaults for everything', () => {
    for (const given of [undefined, {}])
      expect(parse(given)).toEqual({
        authServices: [],
        lifetimeMaxS: null,
        leeway: { expiresAtS: 0, issuedAtS: 0, notBeforeS: 0 },
        additionalAdminUserId: null,
        usersMax: 100_000,
        rightsPerUserMax: 1000,
        usersPageSizeMax: 1000,
        bodyBytesMax: 10_485_760,
        failedAuthPerMinuteMax: 0,
      });
  });

  it.each([
    ['off', null],
    ['0s', 0],
    ['5m', 300],
    ['1.5h', 5400],
  ])('take the lifetime %s', (maxTokenLifetime, expected) => {
    expect(parse({ maxTokenLifetime }).lifetimeMaxS).toBe(expected);
    expect(parse(hmac('x', { maxTokenLifetime })).authServices[0]?.lifetimeMaxS).toBe(expected);
  });

  it('fill in the leeway that counts for all', () => {
    expect(parse({ leeway: { default: '2s', issuedAt: '0s' } }).leeway).toEqual({
      expiresAtS: 2,
      issuedAtS: 0,
      notBeforeS: 2,
    });
    expect(parse({ leeway: { expiresAt: '3s' } }).leeway).toEqual({ expiresAtS: 3, issuedAtS: 0, notBeforeS: 0 });
  });

  it.each([
    ['in place', 'in place'],
    [{ file: 'secret' }, 'from a file'],
    [{ file: 'secret-spaces' }, ' from a file \n'],
  ])('read the secret %j', (secret, expected) => {
    expect(secretOf(parse(hmac(secret)))).toBe(expected);
  });

  it('read a secret of any bytes', () => {
    const bytes = Buffer.from([0xff, 0x00, 0x0a, 0xc3, 0x0a]);
    writeFileSync(directory.at('bytes'), bytes);
    expect(parse(hmac({ file: 'bytes' })).authServices[0]).toMatchObject({
      secret: new Uint8Array(bytes.subarray(0, 4)),
    });
  });

  it('keep the services in their order, each with what it requires', () => {
    const authServices = [
      { type: 'jwt-rs-256-crt', certificate: 'rsa.pem', targetScope: 'scope' },
      { type: 'jwt-es-256-crt', certificate: 'p256.pem', targetScope: 'scope', targetAudience: 'audience' },
      { type: 'jwt-jwks', url: 'http://localhost:1/keys' },
    ];
    expect(parse({ authServices }).authServices).toMatchObject([
      { kind: 'public-key', algorithm: 'RS256', mode: { kind: 'scope', scope: 'scope' } },
      { kind: 'public-key', algorithm: 'ES256', mode: { kind: 'audience', audience: 'audience' } },
      { kind: 'key-set', url: 'http://localhost:1/keys', mode: { kind: 'default' } },
    ]);
  });

  it.each<readonly [unknown, string]>([
    [null, 'ledger: '],
    [{ colour: 'red' }, 'ledger: unknown key "colour"'],
    [{ leeway: { default: 5 } }, 'ledger.leeway.default: given 5'],
    [{ leeway: { default: '-1s' } }, 'ledger.leeway.default: given "-1s", expected a duration'],
    [{ maxTokenLifetime: '5' }, 'ledger.maxTokenLifetime: given "5", expected "off" or a duration'],
    [{ maxUsers: 0 }, 'ledger.maxUsers: given 0, expected a whole number from 1'],
    [{ failedAuthPerMinute: -1 }, 'ledger.failedAuthPerMinute: given -1'],
    [{ additionalAdminUserId: 'a b' }, 'ledger.additionalAdminUserId: given "a b", expected a user id'],
    [{ authServices: {} }, 'ledger.authServices: '],
    [{ authServices: [{}] }, 'ledger.authServices[0]'],
    [{ authServices: [{ type: 'none' }] }, 'ledger.authServices[0]'],
    [hmac(undefined), 'ledger.authServices[0].secret: '],
    [hmac(''), 'ledger.authServices[0].secret: '],
    [hmac(5), 'ledger.authServices[0].secret: '],
    [hmac({ file: 'empty' }), 'ledger.authServices[0].secret: the secret is empty'],
    [hmac({ file: 'missing' }), 'ledger.authServices[0].secret: cannot read'],
    [hmac({ file: 'secret', more: 1 }), 'ledger.authServices[0].secret'],
    [hmac('x', { key: 1 }), 'ledger.authServices[0]: unknown key "key"'],
    [hmac('x', { targetScope: 'two words' }), 'ledger.authServices[0].targetScope: '],
    [hmac('x', { targetAudience: '' }), 'ledger.authServices[0].targetAudience: '],
    [
      { authServices: [{ type: 'jwt-jwks', url: 'file:///keys' }] },
      'ledger.authServices[0].url: given "file:///keys", expected a http or https URL',
    ],
    [{ authServices: [{ type: 'jwt-jwks', url: 'keys' }] }, 'ledger.authServices[0].url: given "keys"'],
    [
      { authServices: [{ type: 'jwt-jwks', url: 'https://me:hush@localhost/keys' }] },
      'ledger.authServices[0].url: expected a http or https URL without a user and password',
    ],
    [{ authServices: [{ type: 'jwt-rs-256-crt' }] }, 'ledger.authServices[0].certificate: '],
    [
      { authServices: [{ type: 'jwt-rs-256-crt', certificate: 'missing.pem' }] },
      'ledger.authServices[0].certificate: cannot read',
    ],
    [
      { authServices: [{ type: 'jwt-rs-256-crt', certificate: 'nothing.pem' }] },
      'contains neither a PEM certificate nor a PEM public key',
    ],
    [{ authServices: [{ type: 'jwt-rs-256-crt', certificate: 'p256.pem' }] }, 'does not fit RS256'],
    [
      { authServices: [{ type: 'jwt-rs-256-crt', certificate: 'short.pem' }] },
      'expected an RSA key of at least 2048 bits',
    ],
    [{ authServices: [{ type: 'jwt-es-256-crt', certificate: 'p384.pem' }] }, 'expected a key on the curve P-256'],
    [{ authServices: [{ type: 'jwt-es-512-crt', certificate: 'p256.pem' }] }, 'expected a key on the curve P-521'],
    [
      { authServices: [{ type: 'jwt-es-256-crt', certificate: 'private.pem' }] },
      'contains neither a PEM certificate nor a PEM public key',
    ],
  ])('refuse %j', (given, expected) => {
    expect(() => parse(given)).toThrow(Refusal);
    expect(() => parse(given)).toThrow(expected);
  });

  it('never repeat a secret in a message', () => {
    for (const service of [
      { type: 'unsafe-jwt-hmac-256', secret: ['hush'] },
      { type: 'jwt-jwks', url: 'https://me:hush@localhost/keys' },
      { type: 'jwt-jwks', url: 'ftp://me:hush@localhost/keys' },
    ])
      expect(() => parse({ authServices: [service] })).toThrow(/^(?!.*hush)/);
  });
});

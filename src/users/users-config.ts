import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { DURATION_EXPECTED, parseDuration } from '../ledger/duration.ts';
import { readNamed, readSecret } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { hasCredentials, USER_ID_PATTERN } from './user.ts';

export type PublicKeyAlgorithm = 'RS256' | 'ES256' | 'ES512';

/**
 * How a token shows that it is for us (docs/rules.md, tokens): the audience contains exactly this, the scopes contain
 * exactly this, or the default rules of the participant audience and the scope daml_ledger_api.
 */
export type TokenMode =
  | { readonly kind: 'audience'; readonly audience: string }
  | { readonly kind: 'scope'; readonly scope: string }
  | { readonly kind: 'default' };

/**
 * One configured way to verify tokens. The configuration alone determines the algorithm: the token's header must agree with
 * it, so no token can choose how it is checked.
 */
export type AuthService = (
  | { readonly kind: 'secret'; readonly secret: Uint8Array }
  | { readonly kind: 'public-key'; readonly algorithm: PublicKeyAlgorithm; readonly publicKey: KeyObject }
  | { readonly kind: 'key-set'; readonly url: string }
) & {
  readonly mode: TokenMode;
  /** Where null, the setting for all services applies. */
  readonly lifetimeMaxS: number | null;
};

/** The `ledger` key of the configuration file, with its key files read; durations in seconds, as in tokens. */
export type UsersConfig = Readonly<ReturnType<typeof parseUsersConfig>>;

/** The largest values of these settings: users are counted row by row, and a page is read at once. */
const USERS_MAX_MAX = 100_000_000;
const PAGE_SIZE_MAX_MAX = 10_000;
const RIGHTS_MAX_MAX = 100_000;
const BODY_BYTES_MAX_MAX = 256 * 1024 * 1024;
const AUTH_SERVICES_MAX = 64;
const FAILED_AUTH_MAX_MAX = 1_000_000;
/** Types of authentication services whose key is in a PEM file. */
const PEM_ALGORITHMS = { 'jwt-rs-256-crt': 'RS256', 'jwt-es-256-crt': 'ES256', 'jwt-es-512-crt': 'ES512' } as const;

const seconds = z
  .string()
  .transform((text) => (parseDuration(text) ?? Number.NaN) / 1_000_000)
  .pipe(z.number(`expected ${DURATION_EXPECTED}`));
const lifetime = z.union([z.literal('off').transform(() => null), seconds], {
  error: `expected "off" or ${DURATION_EXPECTED}`,
});
const nonEmpty = z.string().min(1, 'expected a text that is not empty');
const secret = z.union([nonEmpty, z.strictObject({ file: nonEmpty })], {
  error: 'expected a text that is not empty, or {"file": "path"}',
});
const httpUrl = nonEmpty
  .refine(isHttpUrl, 'expected a http or https URL')
  .refine((text) => !mayHoldPassword(text), 'expected a http or https URL without a user and password');
const count = (min: number, max: number) => {
  const expected = `expected a whole number from ${min} to ${max}`;
  return z.int(expected).min(min, expected).max(max, expected);
};

const common = {
  targetAudience: nonEmpty.optional(),
  targetScope: z
    .string()
    .regex(/^[^ ]+$/, 'expected one scope, a text without spaces that is not empty')
    .optional(),
  maxTokenLifetime: lifetime.optional(),
};
const authService = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('unsafe-jwt-hmac-256'), secret, ...common }),
    z.strictObject({
      type: z.literal(['jwt-rs-256-crt', 'jwt-es-256-crt', 'jwt-es-512-crt']),
      certificate: nonEmpty,
      ...common,
    }),
    z.strictObject({ type: z.literal('jwt-jwks'), url: httpUrl, ...common }),
  ],
  {
    error:
      'expected an object whose type is unsafe-jwt-hmac-256, jwt-rs-256-crt, jwt-es-256-crt, jwt-es-512-crt or jwt-jwks',
  },
);

const usersConfig = z.strictObject({
  authServices: z.array(authService).max(AUTH_SERVICES_MAX, `expected at most ${AUTH_SERVICES_MAX}`).default([]),
  maxTokenLifetime: lifetime.default(null),
  leeway: z
    .strictObject({
      default: seconds.default(0),
      expiresAt: seconds.optional(),
      issuedAt: seconds.optional(),
      notBefore: seconds.optional(),
    })
    .default({ default: 0 }),
  additionalAdminUserId: z.string().regex(USER_ID_PATTERN, 'expected a user id').optional(),
  maxUsers: count(1, USERS_MAX_MAX).default(100_000),
  maxRightsPerUser: count(1, RIGHTS_MAX_MAX).default(1000),
  maxUsersPageSize: count(1, PAGE_SIZE_MAX_MAX).default(1000),
  bodyBytesMax: count(1, BODY_BYTES_MAX_MAX).default(10_485_760),
  failedAuthPerMinute: count(0, FAILED_AUTH_MAX_MAX).default(0),
});
type GivenService = z.output<typeof authService>;

/** Reads the `ledger` value of the configuration file (undefined: all defaults). Throws a Refusal that names the key. */
export function parseUsersConfig(given: { readonly value: unknown; readonly folder: string }) {
  const parsed = usersConfig.safeParse(given.value === undefined ? {} : given.value, { error: expectedType });
  if (!parsed.success) throw new Refusal(describe(parsed.error, given.value));
  const settings = parsed.data;
  const { default: leewayS, expiresAt, issuedAt, notBefore } = settings.leeway;
  return {
    /** In the order in which they are tried. Empty: only the data directory's own secret. */
    authServices: settings.authServices.map((service, index) => openService(service, index, given.folder)),
    lifetimeMaxS: settings.maxTokenLifetime,
    leeway: {
      expiresAtS: expiresAt ?? leewayS,
      issuedAtS: issuedAt ?? leewayS,
      notBeforeS: notBefore ?? leewayS,
    },
    additionalAdminUserId: settings.additionalAdminUserId ?? null,
    usersMax: settings.maxUsers,
    rightsPerUserMax: settings.maxRightsPerUser,
    usersPageSizeMax: settings.maxUsersPageSize,
    bodyBytesMax: settings.bodyBytesMax,
    /** Failed authentications allowed for one address in a minute; 0 is no limit. */
    failedAuthPerMinuteMax: settings.failedAuthPerMinute,
  };
}

function openService(service: GivenService, index: number, folder: string): AuthService {
  const key = `ledger.authServices[${index}]`;
  const shared = { mode: modeOf(service), lifetimeMaxS: service.maxTokenLifetime ?? null };
  switch (service.type) {
    case 'unsafe-jwt-hmac-256':
      return { kind: 'secret', secret: secretOf(service.secret, `${key}.secret`, folder), ...shared };
    case 'jwt-jwks':
      return { kind: 'key-set', url: service.url, ...shared };
    default: {
      const algorithm = PEM_ALGORITHMS[service.type];
      const publicKey = readPublicKey(`${key}.certificate`, resolve(folder, service.certificate), algorithm);
      return { kind: 'public-key', algorithm, publicKey, ...shared };
    }
  }
}

function secretOf(given: string | { readonly file: string }, key: string, folder: string): Uint8Array {
  return new Uint8Array(typeof given === 'string' ? Buffer.from(given) : readSecret(key, resolve(folder, given.file)));
}

/** Where both targets are set the audience counts (docs/rules.md, tokens). */
function modeOf(service: GivenService): TokenMode {
  if (service.targetAudience !== undefined) return { kind: 'audience', audience: service.targetAudience };
  if (service.targetScope !== undefined) return { kind: 'scope', scope: service.targetScope };
  return { kind: 'default' };
}

function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}

/** Also detected in text that is no URL, so that no message repeats it. */
function mayHoldPassword(text: string): boolean {
  return URL.canParse(text) ? hasCredentials(new URL(text)) : text.includes('@');
}

/** The first fault as one line; a value is shown unless it may be a secret. */
function describe(error: z.ZodError, value: unknown): string {
  const issue = error.issues[0]!;
  const path = issue.path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${String(part)}`),
    'ledger',
  );
  if (issue.code === 'unrecognized_keys') return `${path}: unknown key ${JSON.stringify(issue.keys[0])}`;
  const given = issue.path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)?.[part], value);
  const secret = path.includes('.secret') || (path.endsWith('.url') && mayHoldPassword(String(given)));
  const shown = secret || (typeof given === 'object' && given !== null) ? '' : `given ${showGiven(given)}, `;
  return `${path}: ${shown}${issue.message}`;
}

/** The message for a wrong type where the schema has no other. */
function expectedType(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === 'invalid_type' ? `expected ${issue.expected}` : undefined;
}

/** jose refuses shorter RSA keys when it verifies. */
const RSA_BITS_MIN = 2048;
const CURVES = { ES256: 'prime256v1', ES512: 'secp521r1' } as const;
const KEY_EXPECTED = {
  RS256: `an RSA key of at least ${RSA_BITS_MIN} bits`,
  ES256: 'a key on the curve P-256',
  ES512: 'a key on the curve P-521',
} as const;

/** The public key of a PEM certificate or key, in the file of the setting `name`. One that the algorithm cannot use is refused. */
function readPublicKey(name: string, file: string, algorithm: PublicKeyAlgorithm): KeyObject {
  const key = parsePem(readNamed(name, file).toString());
  if (key === null) throw new Refusal(`${name}: ${file} contains neither a PEM certificate nor a PEM public key`);
  if (!fitsAlgorithm(key, algorithm))
    throw new Refusal(`${name}: ${file} does not fit ${algorithm}, expected ${KEY_EXPECTED[algorithm]}`);
  return key;
}

/** A private key is refused, although a public one could be derived: it does not belong on this machine. */
function parsePem(pem: string): KeyObject | null {
  try {
    if (pem.includes('PRIVATE KEY-----')) return null;
    return pem.includes('-----BEGIN CERTIFICATE-----') ? new X509Certificate(pem).publicKey : createPublicKey(pem);
  } catch {
    return null;
  }
}

function fitsAlgorithm(key: KeyObject, algorithm: PublicKeyAlgorithm): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (algorithm === 'RS256') return type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN;
  return type === 'ec' && details?.namedCurve === CURVES[algorithm];
}

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { compactVerify } from 'jose/jws/compact/verify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isObject } from '../json/untrusted.ts';
import { BoundedMap } from './bounded-map.ts';
import { createKeySets, type FoundKey } from './key-sets.ts';
import type { Users } from './open-users.ts';
import { DEFAULT_PROVIDER, type IdentityProvider } from './user.ts';
import type { AuthService, TokenMode, UsersConfig } from './users-config.ts';

// Only parts: all of jose takes a server longer to load than any other package.

/** A few hundred bytes each. */
const TOKENS_MAX = 10_000;

/** The user that a token names. Whether it exists is read from the store, at each use. */
export interface VerifiedToken {
  readonly userId: string;
  readonly identityProviderId: string;
  readonly participantId: string | null;
}

/** A verified token, with everything that must be unchanged for the result to count. */
interface RememberedToken extends VerifiedToken {
  readonly claims: Claims;
  readonly lifetimeMaxS: number | null;
  readonly candidate: Candidate;
  readonly isKeyCurrent: FoundKey['isCurrent'];
}

/** A service that may verify a token, and its identity provider; null for a configured service. */
interface Candidate {
  readonly service: AuthService;
  readonly provider: IdentityProvider | null;
}

export type TokenVerifier = ReturnType<typeof createTokenVerifier>;

/** Tries the configured services in order, then the identity provider that the token names as its issuer. */
export function createTokenVerifier({
  users,
  logger,
  nowMs,
}: {
  readonly users: Users;
  readonly logger: Logger;
  readonly nowMs: () => number;
}) {
  const { leeway, lifetimeMaxS: lifetimeMaxDefaultS } = users.config;
  const keySetOf = createKeySets({ logger, closed: users.closed });
  /** By their SHA-256: no token is kept, and none is compared character by character. Nothing about a user is kept here. */
  const remembered = new BoundedMap<string, RememberedToken>(TOKENS_MAX);

  function isValidNow(claims: Claims, lifetimeMaxS: number | null): boolean {
    return holdsAt(claims, { leeway, lifetimeMaxS }, nowMs() / 1000);
  }

  function isUnchanged({ provider }: Candidate): boolean {
    return provider === null || isDeepStrictEqual(provider, users.reader.identityProvider(provider.id));
  }

  /** The key that a service has for a token, null where it has none. Rejects where its key set is unavailable. */
  async function findKey(service: AuthService, { algorithm, keyId }: SignedToken): Promise<FoundKey | null> {
    const isCurrent = (): boolean => true;
    if (service.kind === 'secret') return algorithm === 'HS256' ? { key: service.secret, isCurrent } : null;
    if (service.kind === 'public-key')
      return algorithm === service.algorithm ? { key: service.publicKey, isCurrent } : null;
    if (algorithm === 'HS256' || keyId === null) return null;
    return keySetOf(service.url)({ alg: algorithm, kid: keyId }).catch((error) => {
      if (error.code === 'ERR_JWKS_NO_MATCHING_KEY') return null;
      throw error;
    });
  }

  /** The token verified by a service, or null. Rejects as above. */
  async function verifyWith(candidate: Candidate, token: SignedToken): Promise<RememberedToken | null> {
    const { claims } = token;
    const { service, provider } = candidate;
    const lifetimeMaxS = service.lifetimeMaxS ?? lifetimeMaxDefaultS;
    const accepted = acceptedParticipant(claims, service.mode);
    if (accepted === null || !isValidNow(claims, lifetimeMaxS)) return null;
    const found = await findKey(service, token);
    if (found === null || !(await isSignedBy(token, found.key))) return null;
    return {
      userId: claims.subject,
      identityProviderId: provider?.id ?? DEFAULT_PROVIDER,
      participantId: accepted.participantId,
      claims,
      lifetimeMaxS,
      candidate,
      isKeyCurrent: found.isCurrent,
    };
  }

  /** A result without the verdict of an earlier service, whose key set is unavailable, is not remembered. */
  async function verifyUnknown(text: string, fingerprint: string): Promise<VerifiedToken | null> {
    const token = readToken(text);
    if (token === null) return null;
    let isFinal = true;
    for (const candidate of candidatesFor(token, users)) {
      const verified = await verifyWith(candidate, token).catch(() => {
        isFinal = false;
        return null;
      });
      if (verified === null) continue;
      if (!isUnchanged(candidate)) return null;
      if (isFinal) remembered.set(fingerprint, verified);
      return verified;
    }
    return null;
  }

  return {
    /** How many verified tokens are remembered. */
    rememberedCount: () => remembered.size,
    /** Null for a token that no configured service or provider verifies. No promise for one that was verified before and is still valid. */
    verify(text: string): VerifiedToken | Promise<VerifiedToken | null> {
      const fingerprint = hash('sha256', text, 'base64url');
      const known = remembered.get(fingerprint);
      if (known?.isKeyCurrent() && isUnchanged(known.candidate) && isValidNow(known.claims, known.lifetimeMaxS))
        return known;
      remembered.delete(fingerprint);
      return verifyUnknown(text, fingerprint);
    },
  };
}

function candidatesFor(token: SignedToken, users: Users): readonly Candidate[] {
  const configured = users.authServices.map((service) => ({ service, provider: null }));
  const { issuer } = token.claims;
  const provider = issuer === null ? null : users.reader.identityProviderOfIssuer(issuer);
  if (provider === null || provider.isDeactivated) return configured;
  const { jwksUrl: url, audience } = provider;
  const mode = audience === '' ? ({ kind: 'default' } as const) : ({ kind: 'audience', audience } as const);
  return [...configured, { service: { kind: 'key-set', url, mode, lifetimeMaxS: null }, provider }];
}

async function isSignedBy(token: SignedToken, key: FoundKey['key']): Promise<boolean> {
  try {
    await compactVerify(token.text, key, { algorithms: [token.algorithm] });
    return true;
  } catch {
    return false;
  }
}

const optionalNumber = z.number().nullish();

/** Null counts as absent, except for `sub`. */
const CLAIMS = z
  .object({
    sub: z.string(),
    iss: z.string().nullish(),
    aud: z.union([z.string(), z.array(z.string())]).nullish(),
    scope: z.unknown().optional(),
    scp: z.unknown().optional(),
    exp: optionalNumber,
    iat: optionalNumber,
    nbf: optionalNumber,
  })
  .transform(({ sub, iss, aud, scope, scp, exp, iat, nbf }) => ({
    subject: sub,
    issuer: iss ?? null,
    audiences: [aud ?? []].flat(),
    // A present `scope: ""` does not fall back.
    scopes: scopesOf(typeof scope === 'string' ? scope : scp),
    expiresAtS: exp ?? null,
    issuedAtS: iat ?? null,
    notBeforeS: nbf ?? null,
  }));

/** The claims of a token that are used (docs/rules.md, tokens). Seconds since 1970, perhaps with fractions. */
type Claims = Readonly<z.output<typeof CLAIMS>>;

function scopesOf(scope: unknown): readonly string[] {
  if (typeof scope === 'string') return scope.split(' ').filter((part) => part !== '');
  return Array.isArray(scope) ? scope.filter((part): part is string => typeof part === 'string') : [];
}

/** Compact form: three base64url parts, nothing else. */
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;
const ALGORITHMS = ['HS256', 'RS256', 'ES256', 'ES512'] as const;

type TokenAlgorithm = (typeof ALGORITHMS)[number];

/** The parts of a token whose signature is not verified yet. */
interface SignedToken {
  readonly text: string;
  /** Only compared with a service's configured algorithm, never the token's choice. */
  readonly algorithm: TokenAlgorithm;
  readonly keyId: string | null;
  readonly claims: Claims;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a token's parts; null for anything that no service could accept: `none`, an extension (`crit`), a bad claim. */
function readToken(text: string): SignedToken | null {
  const parts = COMPACT.exec(text);
  const header = parts === null ? null : readPart(parts[1]!);
  const payload = parts === null ? null : readPart(parts[2]!);
  if (header === null || payload === null || header.crit !== undefined) return null;
  const algorithm = ALGORITHMS.find((name) => name === header.alg);
  const claims = CLAIMS.safeParse(payload).data;
  if (algorithm === undefined || claims === undefined) return null;
  return { text, algorithm, keyId: typeof header.kid === 'string' ? header.kid : null, claims };
}

function readPart(part: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(part, 'base64url')));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const PARTICIPANT_AUDIENCE = 'https://daml.com/jwt/aud/participant/';
const LEDGER_SCOPE = 'daml_ledger_api';

/**
 * The participant that a token for us names (null: any); null where it is not for us (docs/rules.md, tokens). Whether it is
 * this participant is checked with the caller's rights.
 */
function acceptedParticipant(claims: Claims, mode: TokenMode): { readonly participantId: string | null } | null {
  if (mode.kind === 'audience') return claims.audiences.includes(mode.audience) ? { participantId: null } : null;
  if (mode.kind === 'scope') return claims.scopes.includes(mode.scope) ? { participantId: null } : null;
  const prefixed = claims.audiences.filter((audience) => audience.startsWith(PARTICIPANT_AUDIENCE));
  if (prefixed.length > 0) {
    const ids = prefixed.map((audience) => audience.slice(PARTICIPANT_AUDIENCE.length)).filter((id) => id !== '');
    return ids.length === 1 ? { participantId: ids[0]! } : null;
  }
  if (!claims.scopes.includes(LEDGER_SCOPE) || claims.audiences.length > 1) return null;
  return { participantId: claims.audiences[0] ?? null };
}

/** Whether a token is valid at this time, in fractional seconds: it has expired also within its last second. */
function holdsAt(
  claims: Claims,
  { leeway, lifetimeMaxS }: Pick<UsersConfig, 'leeway' | 'lifetimeMaxS'>,
  nowS: number,
): boolean {
  const { expiresAtS, issuedAtS, notBeforeS } = claims;
  if (expiresAtS !== null && nowS >= expiresAtS + leeway.expiresAtS) return false;
  if (issuedAtS !== null && issuedAtS > nowS + leeway.issuedAtS) return false;
  if (notBeforeS !== null && notBeforeS > nowS + leeway.notBeforeS) return false;
  if (lifetimeMaxS === null) return true;
  // A limit of 0 s refuses every token, also one that is valid only by the leeway.
  return lifetimeMaxS > 0 && expiresAtS !== null && expiresAtS - nowS <= lifetimeMaxS;
}

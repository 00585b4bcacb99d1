import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { compactVerify } from 'jose/jws/compact/verify';
import type { Logger } from 'pino';
import { BoundedMap } from './bounded-map.ts';
import { createKeySets, type FoundKey } from './key-sets.ts';
import type { Users } from './open-users.ts';
import {
  type AuthService,
  acceptedParticipant,
  type Claims,
  holdsAt,
  readToken,
  type SignedToken,
} from './signed-token.ts';
import { DEFAULT_PROVIDER, type IdentityProvider } from './user.ts';

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

export interface TokenVerifier {
  /**
   * Null for a token that no configured service or provider verifies: it is as if there were none. No promise for a token that
   * was verified before and is still valid.
   */
  verify(token: string): VerifiedToken | Promise<VerifiedToken | null>;
  /** How many verified tokens are remembered. */
  readonly rememberedCount: number;
}

/** Tries the configured services in order, then the identity provider that the token names as its issuer. */
export function createTokenVerifier({
  users,
  logger,
  nowMs,
}: {
  readonly users: Users;
  readonly logger: Logger;
  readonly nowMs: () => number;
}): TokenVerifier {
  const { leeway, lifetimeMaxS: lifetimeMaxDefaultS } = users.config;
  const keySets = createKeySets({ logger, closed: users.closed });
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
    return keySets.find(service.url, { alg: algorithm, kid: keyId }).catch((error) => {
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
    get rememberedCount() {
      return remembered.size;
    },
    verify(text) {
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

import { hash, type KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
// Only this: all of jose takes a server longer to load than any other package.
import { compactVerify } from 'jose/jws/compact/verify';
import { BoundedMap } from '../bounded-map.ts';
import type { Users } from '../open-users.ts';
import { DEFAULT_PROVIDER, type IdentityProvider } from '../user.ts';
import type { AuthService } from './auth-service.ts';
import type { Claims } from './claims.ts';
import type { FoundKey, KeyLookup, KeySetCache } from './key-set-cache.ts';
import { readToken, type SignedToken } from './signed-token.ts';
import { acceptedParticipant, holdsAt } from './token-rules.ts';

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
  /** The identity provider at that time; null for tokens of the configured services. */
  readonly provider: IdentityProvider | null;
  readonly keySet: FoundKey['keySet'];
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

/** How often a verification starts again because its identity provider or key set has changed meanwhile. */
const ATTEMPTS_MAX = 3;

/** A service that may verify a token, and its identity provider, if it is one's. */
interface Candidate {
  readonly service: AuthService;
  readonly provider: IdentityProvider | null;
}

/** Services are tried in order; where an earlier one was passed over, a later one's result is not cached. */
interface Verified {
  readonly token: RememberedToken;
  readonly isFirst: boolean;
}

/** Tries the configured services in order, then the identity provider that the token names as its issuer. */
export function createTokenVerifier(deps: {
  readonly users: Users;
  readonly keySets: KeySetCache;
  readonly nowMs: () => number;
}): TokenVerifier {
  const { users, keySets, nowMs } = deps;
  const { leeway, lifetimeMaxS: lifetimeMaxDefaultS } = users.config;
  /** By their SHA-256: no token is kept, and none is compared character by character. Nothing about a user is kept here. */
  const remembered = new BoundedMap<string, RememberedToken>(TOKENS_MAX);

  function stillCounts({ keySet, claims, lifetimeMaxS, provider }: RememberedToken): boolean {
    return (
      holdsAt(claims, { leeway, lifetimeMaxS }, nowMs() / 1000) &&
      (keySet === null || keySets.current(keySet.url) === keySet.set) &&
      (provider === null || isDeepStrictEqual(provider, users.reader.identityProvider(provider.id)))
    );
  }

  async function vouch(token: SignedToken, { service, provider }: Candidate): Promise<RememberedToken | null> {
    const { claims } = token;
    const lifetimeMaxS = service.lifetimeMaxS ?? lifetimeMaxDefaultS;
    const found = findKey(service, token, keySets);
    const accepted = acceptedParticipant(claims, service.mode);
    if (typeof found === 'string' || accepted === null) return null;
    if (!holdsAt(claims, { leeway, lifetimeMaxS }, nowMs() / 1000)) return null;
    if (!(await isSignedBy(token, found.key))) return null;
    return {
      userId: claims.subject,
      identityProviderId: provider?.id ?? DEFAULT_PROVIDER,
      participantId: accepted.participantId,
      claims,
      lifetimeMaxS,
      provider,
      keySet: found.keySet,
    };
  }

  /**
   * The first service in order that verifies the token decides, even if its keys must be fetched first: the token waits for
   * that, and all services fetch at the same time. A service whose last fetch failed is passed over and fetches again
   * meanwhile; only a token that no other service verifies waits for it. So a provider that cannot be reached delays the
   * others by one fetch at most.
   */
  async function verifyOnce(token: SignedToken): Promise<Verified | null> {
    const candidates = candidatesFor(token, users);
    const passedOver: Candidate[] = [];
    for (const [place, candidate] of candidates.entries()) {
      if (lookUp(candidate, token) === 'fetch') {
        for (const later of candidates.slice(place + 1)) if (lookUp(later, token) === 'fetch') refreshMeanwhile(later);
        await refresh(candidate);
      }
      if (lookUp(candidate, token) === 'unavailable') {
        refreshMeanwhile(candidate);
        passedOver.push(candidate);
        continue;
      }
      const verified = await vouch(token, candidate);
      if (verified !== null) return { token: verified, isFirst: passedOver.length === 0 };
    }
    for (const [place, candidate] of passedOver.entries()) {
      await refresh(candidate);
      const verified = await vouch(token, candidate);
      if (verified !== null) return { token: verified, isFirst: place === 0 };
    }
    return null;
  }

  function lookUp({ service }: Candidate, token: SignedToken): KeyLookup {
    return findKey(service, token, keySets);
  }

  /** A failure is thrown where the fetch is awaited. */
  function refreshMeanwhile(candidate: Candidate): void {
    refresh(candidate).catch(() => {});
  }

  async function refresh({ service }: Candidate): Promise<void> {
    if (service.kind === 'key-set') await keySets.refresh(service.url);
  }

  async function verifyAnew(text: string, fingerprint: string): Promise<VerifiedToken | null> {
    const token = readToken(text);
    if (token === null) return null;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const verified = await verifyOnce(token);
      if (verified === null) return null;
      if (!stillCounts(verified.token)) continue;
      if (verified.isFirst) remembered.set(fingerprint, verified.token);
      return verified.token;
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
      if (known !== undefined && stillCounts(known)) return known;
      remembered.delete(fingerprint);
      return verifyAnew(text, fingerprint);
    },
  };
}

function candidatesFor(token: SignedToken, users: Users): readonly Candidate[] {
  const configured = users.authServices.map((service) => ({ service, provider: null }));
  const { issuer } = token.claims;
  const provider = issuer === null ? null : users.reader.identityProviderOfIssuer(issuer);
  if (provider === null || provider.isDeactivated) return configured;
  return [...configured, { service: serviceOfProvider(provider), provider }];
}

function serviceOfProvider({ jwksUrl, audience }: IdentityProvider): AuthService {
  const mode = audience === '' ? ({ kind: 'default' } as const) : ({ kind: 'audience', audience } as const);
  return { kind: 'key-set', url: jwksUrl, mode, lifetimeMaxS: null };
}

/** The key that a service has for a token. A service with another algorithm than the token's has none. */
function findKey(service: AuthService, token: SignedToken, keySets: KeySetCache): KeyLookup {
  const { algorithm, keyId } = token;
  if (service.kind === 'secret') return algorithm === 'HS256' ? { key: service.secret, keySet: null } : 'absent';
  if (service.kind === 'public-key')
    return algorithm === service.algorithm ? { key: service.publicKey, keySet: null } : 'absent';
  if (algorithm === 'HS256' || keyId === null) return 'absent';
  return keySets.find(service.url, keyId, algorithm);
}

async function isSignedBy(token: SignedToken, key: KeyObject | Uint8Array): Promise<boolean> {
  try {
    await compactVerify(token.text, key, { algorithms: [token.algorithm] });
    return true;
  } catch {
    return false;
  }
}

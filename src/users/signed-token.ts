import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { isObject } from '../json/untrusted.ts';

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
export type Claims = Readonly<z.output<typeof CLAIMS>>;

/** The claims of a payload, or null where one has a type it must not have. */
function parseClaims(payload: Readonly<Record<string, unknown>>): Claims | null {
  return CLAIMS.safeParse(payload).data ?? null;
}

function scopesOf(scope: unknown): readonly string[] {
  if (typeof scope === 'string') return scope.split(' ').filter((part) => part !== '');
  return Array.isArray(scope) ? scope.filter((part): part is string => typeof part === 'string') : [];
}

/** Compact form: three base64url parts, nothing else. */
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;
const ALGORITHMS = ['HS256', 'RS256', 'ES256', 'ES512'] as const;

type TokenAlgorithm = (typeof ALGORITHMS)[number];

/** The parts of a token whose signature is not verified yet. */
export interface SignedToken {
  readonly text: string;
  /** Only compared with a service's configured algorithm, never the token's choice. */
  readonly algorithm: TokenAlgorithm;
  readonly keyId: string | null;
  readonly claims: Claims;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a token's parts; null for anything that no service could accept: `none`, an extension (`crit`), a bad claim. */
export function readToken(text: string): SignedToken | null {
  const parts = COMPACT.exec(text);
  const header = parts === null ? null : readPart(parts[1]!);
  const payload = parts === null ? null : readPart(parts[2]!);
  if (header === null || payload === null || header.crit !== undefined) return null;
  const algorithm = ALGORITHMS.find((name) => name === header.alg);
  const claims = parseClaims(payload);
  if (algorithm === undefined || claims === null) return null;
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

export interface Leeway {
  readonly expiresAtS: number;
  readonly issuedAtS: number;
  readonly notBeforeS: number;
}

/**
 * The participant that a token for us names (null: any); null where it is not for us (docs/rules.md, tokens). Whether it is
 * this participant is checked with the caller's rights.
 */
export function acceptedParticipant(claims: Claims, mode: TokenMode): { readonly participantId: string | null } | null {
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
export function holdsAt(
  claims: Claims,
  { leeway, lifetimeMaxS }: { readonly leeway: Leeway; readonly lifetimeMaxS: number | null },
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

import { isObject } from '../../json/untrusted.ts';
import { type Claims, parseClaims } from './claims.ts';

/** Compact form: three base64url parts, nothing else. */
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;
const ALGORITHMS = ['HS256', 'RS256', 'ES256', 'ES512'] as const;

export type TokenAlgorithm = (typeof ALGORITHMS)[number];

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

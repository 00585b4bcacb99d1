import { z } from 'zod';

/** The claims of a token that are used (docs/rules.md, tokens). Seconds since 1970, perhaps with fractions. */
export interface Claims {
  readonly subject: string;
  readonly issuer: string | null;
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly expiresAtS: number | null;
  readonly issuedAtS: number | null;
  readonly notBeforeS: number | null;
}

const optionalNumber = z.number().nullish();
const CLAIMS = z.object({
  sub: z.string(),
  iss: z.string().nullish(),
  aud: z.union([z.string(), z.array(z.string())]).nullish(),
  exp: optionalNumber,
  iat: optionalNumber,
  nbf: optionalNumber,
});

/** The claims of a payload, or null where one has a type it must not have. Null counts as absent, except for `sub`. */
export function parseClaims(payload: Readonly<Record<string, unknown>>): Claims | null {
  const { data } = CLAIMS.safeParse(payload);
  if (data === undefined) return null;
  return {
    subject: data.sub,
    issuer: data.iss ?? null,
    audiences: [data.aud ?? []].flat(),
    scopes: scopesOf(payload),
    expiresAtS: data.exp ?? null,
    issuedAtS: data.iat ?? null,
    notBeforeS: data.nbf ?? null,
  };
}

/** `scope`, or where that is no text `scp`: a present `scope: ""` does not fall back. */
function scopesOf(payload: Readonly<Record<string, unknown>>): readonly string[] {
  const scope = typeof payload.scope === 'string' ? payload.scope : payload.scp;
  if (typeof scope === 'string') return scope.split(' ').filter((part) => part !== '');
  return Array.isArray(scope) ? scope.filter((part): part is string => typeof part === 'string') : [];
}

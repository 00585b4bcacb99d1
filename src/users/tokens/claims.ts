import { z } from 'zod';

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
export function parseClaims(payload: Readonly<Record<string, unknown>>): Claims | null {
  return CLAIMS.safeParse(payload).data ?? null;
}

function scopesOf(scope: unknown): readonly string[] {
  if (typeof scope === 'string') return scope.split(' ').filter((part) => part !== '');
  return Array.isArray(scope) ? scope.filter((part): part is string => typeof part === 'string') : [];
}

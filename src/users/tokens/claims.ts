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

/** A claim of another type than it must have. */
const INVALID = Symbol('invalid claim');

/** The claims of a payload, or null where one has a type it must not have. Null counts as absent, except for `sub`. */
export function parseClaims(payload: Readonly<Record<string, unknown>>): Claims | null {
  const issuer = optionalText(payload.iss);
  const audiences = textList(payload.aud);
  const [expiresAtS, issuedAtS, notBeforeS] = [payload.exp, payload.iat, payload.nbf].map(optionalNumber);
  if (typeof payload.sub !== 'string' || issuer === INVALID || audiences === INVALID) return null;
  if (expiresAtS === INVALID || issuedAtS === INVALID || notBeforeS === INVALID) return null;
  return {
    subject: payload.sub,
    issuer,
    audiences,
    scopes: scopesOf(payload),
    expiresAtS: expiresAtS ?? null,
    issuedAtS: issuedAtS ?? null,
    notBeforeS: notBeforeS ?? null,
  };
}

/** `scope`, or where that is no text `scp`: a present `scope: ""` does not fall back. */
function scopesOf(payload: Readonly<Record<string, unknown>>): readonly string[] {
  const scope = typeof payload.scope === 'string' ? payload.scope : payload.scp;
  if (typeof scope === 'string') return scope.split(' ').filter((part) => part !== '');
  return Array.isArray(scope) ? scope.filter((part): part is string => typeof part === 'string') : [];
}

function optionalText(value: unknown): string | null | typeof INVALID {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : INVALID;
}

function optionalNumber(value: unknown): number | null | typeof INVALID {
  if (value === undefined || value === null) return null;
  return typeof value === 'number' && Number.isFinite(value) ? value : INVALID;
}

function textList(value: unknown): readonly string[] | typeof INVALID {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  return list.every((part) => typeof part === 'string') ? list : INVALID;
}

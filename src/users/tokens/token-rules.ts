import type { Leeway } from '../users-config.ts';
import type { TokenMode } from './auth-service.ts';
import type { Claims } from './claims.ts';

const PARTICIPANT_AUDIENCE = 'https://daml.com/jwt/aud/participant/';
const LEDGER_SCOPE = 'daml_ledger_api';

export interface TimeRules {
  readonly leeway: Leeway;
  /** Null: a token may live as long as it says, or forever. */
  readonly lifetimeMaxS: number | null;
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
export function holdsAt(claims: Claims, { leeway, lifetimeMaxS }: TimeRules, nowS: number): boolean {
  const { expiresAtS, issuedAtS, notBeforeS } = claims;
  if (expiresAtS !== null && nowS >= expiresAtS + leeway.expiresAtS) return false;
  if (issuedAtS !== null && issuedAtS > nowS + leeway.issuedAtS) return false;
  if (notBeforeS !== null && notBeforeS > nowS + leeway.notBeforeS) return false;
  if (lifetimeMaxS === null) return true;
  // A limit of 0 s refuses every token, also one that is valid only by the leeway.
  return lifetimeMaxS > 0 && expiresAtS !== null && expiresAtS - nowS <= lifetimeMaxS;
}

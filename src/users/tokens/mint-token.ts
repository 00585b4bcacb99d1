import { SignJWT } from 'jose/jwt/sign';
import type { AuthService, TokenMode } from './auth-service.ts';

/**
 * A token for a user, signed with a secret, with the audience or scope that its service requires. `nowS` and the
 * lifetime in seconds.
 */
export async function mintToken(options: {
  readonly service: Extract<AuthService, { kind: 'secret' }>;
  readonly userId: string;
  readonly lifetimeS: number;
  readonly nowS: number;
}): Promise<string> {
  const { service, userId, lifetimeS, nowS } = options;
  return await new SignJWT(claimsOf(service.mode))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(userId)
    .setIssuedAt(Math.floor(nowS))
    .setExpirationTime(Math.floor(nowS + lifetimeS))
    .sign(service.secret);
}

function claimsOf(mode: TokenMode): { aud?: string; scope?: string } {
  if (mode.kind === 'audience') return { aud: mode.audience };
  return { scope: mode.kind === 'scope' ? mode.scope : 'daml_ledger_api' };
}

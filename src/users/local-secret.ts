import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose/jwt/sign';
import { readSecret } from '../named-file.ts';
import { closeToOthers } from '../private-file.ts';
import { Refusal } from '../refusal.ts';
import type { AuthService, TokenMode } from './users-config.ts';

export const LOCAL_SECRET_FILE = 'token-secret';
const SECRET_BYTES = 48;
const SECRET_BYTES_MIN = 32;

/** The service that is used where none is configured, with the data directory's own secret. */
export function localService(dataDir: string): Extract<AuthService, { kind: 'secret' }> {
  return { kind: 'secret', secret: openLocalSecret(dataDir), mode: { kind: 'default' }, lifetimeMaxS: null };
}

/**
 * The data directory's own HS256 secret, created where it is missing. The file appears whole or not at all, so
 * two processes that start at once agree on one. Its bytes are the key, as with a configured `{"file": ...}`.
 */
function openLocalSecret(dataDir: string): Uint8Array {
  const file = join(dataDir, LOCAL_SECRET_FILE);
  if (!existsSync(file)) makeSecret(dataDir, file);
  const secret = readSecret(LOCAL_SECRET_FILE, file);
  if (secret.length < SECRET_BYTES_MIN)
    throw new Refusal(`${file} has fewer than ${SECRET_BYTES_MIN} bytes: remove it, and a new one is created`);
  // A secret that was put there by hand may be open to others.
  closeToOthers(file);
  return secret;
}

function makeSecret(dataDir: string, file: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A token for a user, signed with a secret, with the audience or scope that its service requires. `nowS` and the lifetime in seconds. */
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

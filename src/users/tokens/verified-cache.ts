import { hash } from 'node:crypto';
import type { IdentityProvider } from '../user.ts';
import type { Claims } from './claims.ts';
import type { KeySet } from './key-set.ts';

/** A few hundred bytes each. */
const TOKENS_MAX = 10_000;

/** A verified token, with everything that must be unchanged for the result to count. */
export interface RememberedToken {
  readonly userId: string;
  readonly identityProviderId: string;
  readonly participantId: string | null;
  readonly claims: Claims;
  readonly lifetimeMaxS: number | null;
  /** The identity provider at that time; null for tokens of the configured services. */
  readonly provider: IdentityProvider | null;
  /** Null for keys in the configuration, which never change while the program runs. */
  readonly keySet: { readonly url: string; readonly set: KeySet } | null;
}

/**
 * Verified tokens, by their SHA-256: no token is kept, and none is compared character by character. At every use the verifier
 * checks whether an entry still counts; nothing about a user is kept here.
 */
export class VerifiedCache {
  readonly #tokens = new Map<string, RememberedToken>();
  readonly #tokensMax: number;

  constructor(tokensMax: number = TOKENS_MAX) {
    this.#tokensMax = tokensMax;
  }

  get size(): number {
    return this.#tokens.size;
  }

  get(token: string): RememberedToken | undefined {
    return this.#tokens.get(fingerprint(token));
  }

  set(token: string, remembered: RememberedToken): void {
    this.#tokens.set(fingerprint(token), remembered);
    if (this.#tokens.size <= this.#tokensMax) return;
    const oldest = this.#tokens.keys().next().value;
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }

  delete(token: string): void {
    this.#tokens.delete(fingerprint(token));
  }
}

function fingerprint(token: string): string {
  return hash('sha256', token, 'base64url');
}

import type { KeyObject } from 'node:crypto';

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

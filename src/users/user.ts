import type { Annotations } from './annotations.ts';

/** The identity provider of users without another one. */
export const DEFAULT_PROVIDER = '';

/** A user of the ledger as it is stored (docs/rules.md, users). */
export interface User {
  readonly id: string;
  /** Empty where unset. */
  readonly primaryParty: string;
  readonly isDeactivated: boolean;
  readonly primaryPartyAuthentication: boolean;
  /** DEFAULT_PROVIDER, or the id of an identity provider. */
  readonly identityProviderId: string;
  /** 0 at creation, one more with each update. */
  readonly resourceVersion: bigint;
  readonly annotations: Annotations;
}

/** Where the tokens of a set of users come from (docs/rules.md, users). */
export interface IdentityProvider {
  readonly id: string;
  readonly isDeactivated: boolean;
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Empty where unset. */
  readonly audience: string;
}

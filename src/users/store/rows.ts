import type { Annotations } from '../annotations.ts';
import type { IdentityProvider, User } from '../user.ts';

/** A row of `user`, read with exact integers: the resource version is a 64-bit number. */
export interface UserRow {
  readonly id: string;
  readonly provider: string;
  readonly primaryParty: string;
  readonly deactivated: bigint;
  readonly partyAuthentication: bigint;
  readonly version: bigint;
}

export interface ProviderRow {
  readonly id: string;
  readonly deactivated: number;
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly audience: string;
}

export function userOfRow(row: UserRow, annotations: Annotations): User {
  return {
    id: row.id,
    primaryParty: row.primaryParty,
    isDeactivated: row.deactivated === 1n,
    primaryPartyAuthentication: row.partyAuthentication === 1n,
    identityProviderId: row.provider,
    resourceVersion: row.version,
    annotations,
  };
}

export function providerOfRow(row: ProviderRow): IdentityProvider {
  return {
    id: row.id,
    isDeactivated: row.deactivated === 1,
    issuer: row.issuer,
    jwksUrl: row.jwksUrl,
    audience: row.audience,
  };
}

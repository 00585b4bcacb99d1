import type { Annotations } from '../annotations.ts';
import type { GivenRight } from '../right.ts';

/** A user in a request: decoded, not validated yet. */
export interface GivenUser {
  readonly id: string;
  readonly primaryParty: string;
  readonly isDeactivated: boolean;
  readonly primaryPartyAuthentication: boolean;
  readonly identityProviderId: string;
  /** Empty where unset. */
  readonly resourceVersion: string;
  readonly annotations: Annotations;
}

export const EMPTY_USER: GivenUser = {
  id: '',
  primaryParty: '',
  isDeactivated: false,
  primaryPartyAuthentication: false,
  identityProviderId: '',
  resourceVersion: '',
  annotations: new Map(),
};

export interface CreateUserRequest {
  readonly user: GivenUser | null;
  readonly rights: readonly GivenRight[];
}

export interface UpdateUserRequest {
  readonly user: GivenUser | null;
  /** Null where unset. */
  readonly updatePaths: readonly string[] | null;
}

export interface ChangeRightsRequest {
  readonly userId: string;
  readonly rights: readonly GivenRight[];
  readonly identityProviderId: string;
}

export interface MoveUserRequest {
  readonly userId: string;
  readonly sourceIdentityProviderId: string;
  readonly targetIdentityProviderId: string;
}

export interface GivenProvider {
  readonly id: string;
  readonly isDeactivated: boolean;
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly audience: string;
}

export interface UpdateProviderRequest {
  readonly provider: GivenProvider | null;
  readonly updatePaths: readonly string[] | null;
}

export interface ListUsersRequest {
  /** 0: as many as the settings allow. */
  readonly pageSize: number;
  /** Empty: from the start. */
  readonly pageToken: string;
}

import { z } from 'zod';
import type { Right } from '../../users/right.ts';
import type { IdentityProvider, User } from '../../users/user.ts';
import type { UsersConfig } from '../../users/users-config.ts';

export const user = z
  .strictObject({
    id: z.string(),
    primaryParty: z.string(),
    isDeactivated: z.boolean(),
    metadata: z.strictObject({
      resourceVersion: z.string().meta({ description: 'A decimal number.' }),
      annotations: z.record(z.string(), z.string()),
    }),
    identityProviderId: z.string(),
    primaryPartyAuthentication: z.boolean(),
  })
  .meta({ id: 'User' });

export const identityProviderConfig = z
  .strictObject({
    identityProviderId: z.string(),
    isDeactivated: z.boolean(),
    issuer: z.string(),
    jwksUrl: z.string(),
    audience: z.string(),
  })
  .meta({ id: 'IdentityProviderConfig' });

export const EMPTY_ANSWER = z.strictObject({}).meta({ id: 'EmptyAnswer' });
export const ERROR = z
  .strictObject({
    code: z.string().meta({ description: 'Such as USER_NOT_FOUND; NA where the reason is not given.' }),
    cause: z.string(),
    correlationId: z.string().nullable(),
    traceId: z.string().nullable().meta({ description: 'The id of the request in the log.' }),
    context: z.record(z.string(), z.string()),
    resources: z.array(z.array(z.string()).length(2)).meta({ description: 'Pairs of type and name.' }),
    errorCategory: z.int(),
    grpcCodeValue: z.int().nullable(),
    retryInfo: z.string().nullable(),
    definiteAnswer: z.boolean().nullable(),
  })
  .meta({ id: 'Error' });

/** A user in answers: always every field, in this order. */
export function showUser(user: User): object {
  return {
    id: user.id,
    primaryParty: user.primaryParty,
    isDeactivated: user.isDeactivated,
    metadata: {
      resourceVersion: user.resourceVersion.toString(),
      annotations: Object.fromEntries(user.annotations),
    },
    identityProviderId: user.identityProviderId,
    primaryPartyAuthentication: user.primaryPartyAuthentication,
  };
}

export function showRight({ kind, party }: Right): object {
  return { kind: { [kind]: { value: party === '' ? {} : { party } } } };
}

export function showProvider({ id, isDeactivated, issuer, jwksUrl, audience }: IdentityProvider): object {
  return { identityProviderId: id, isDeactivated, issuer, jwksUrl, audience };
}

/** The version of the Ledger API that this area speaks; official clients adapt to it. */
const API_VERSION = '3.4.0';

/** What this participant can do, in the reference's shape: nothing but users. */
export function versionAnswer({ rightsPerUserMax, usersPageSizeMax }: UsersConfig): object {
  return {
    version: API_VERSION,
    features: {
      experimental: {
        staticTime: { supported: false },
        commandInspectionService: { supported: false },
      },
      userManagement: {
        supported: true,
        maxRightsPerUser: rightsPerUserMax,
        maxUsersPageSize: usersPageSizeMax,
      },
      partyManagement: { maxPartiesPageSize: 0 },
      offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: { seconds: 0, nanos: 0, unknownFields: { fields: {} } } },
      packageFeature: { maxVettedPackagesPageSize: 0 },
    },
  };
}

import { z } from 'zod';
import type { Right } from '../../users/right.ts';
import type { IdentityProvider, User } from '../../users/user.ts';
import { documentedRight } from './value-schemas.ts';

const user = z.strictObject({
  id: z.string(),
  primaryParty: z.string(),
  isDeactivated: z.boolean(),
  metadata: z.strictObject({
    resourceVersion: z.string().meta({ description: 'A decimal number.' }),
    annotations: z.record(z.string(), z.string()),
  }),
  identityProviderId: z.string(),
  primaryPartyAuthentication: z.boolean(),
});
const identityProviderConfig = z.strictObject({
  identityProviderId: z.string(),
  isDeactivated: z.boolean(),
  issuer: z.string(),
  jwksUrl: z.string(),
  audience: z.string(),
});
const reference = (name: string) => z.unknown().meta({ $ref: `#/components/schemas/${name}` });
const rights = z.array(reference('Right'));

/** What the operations answer, by the names that the document gives them. Tests hold real answers against them. */
export const ANSWER_SCHEMAS = {
  User: user,
  Right: documentedRight,
  IdentityProviderConfig: identityProviderConfig,
  UserAnswer: z.strictObject({ user: reference('User') }),
  ListUsersAnswer: z.strictObject({ users: z.array(reference('User')), nextPageToken: z.string() }),
  ListUserRightsAnswer: z.strictObject({ rights }),
  GrantUserRightsAnswer: z.strictObject({ newlyGrantedRights: rights }),
  RevokeUserRightsAnswer: z.strictObject({ newlyRevokedRights: rights }),
  IdentityProviderConfigAnswer: z.strictObject({ identityProviderConfig: reference('IdentityProviderConfig') }),
  ListIdentityProviderConfigsAnswer: z.strictObject({
    identityProviderConfigs: z.array(reference('IdentityProviderConfig')),
  }),
  EmptyAnswer: z.strictObject({}),
  VersionAnswer: z.strictObject({ version: z.string(), features: z.looseObject({}) }),
  Error: z.strictObject({
    code: z.string().meta({ description: 'Such as USER_NOT_FOUND; NA where the reason is not told.' }),
    cause: z.string(),
    correlationId: z.string().nullable(),
    traceId: z.string().nullable().meta({ description: 'The id of the request in the log.' }),
    context: z.record(z.string(), z.string()),
    resources: z.array(z.array(z.string()).length(2)).meta({ description: 'Pairs of type and name.' }),
    errorCategory: z.int(),
    grpcCodeValue: z.int().nullable(),
    retryInfo: z.string().nullable(),
    definiteAnswer: z.boolean().nullable(),
  }),
} as const;

export type AnswerName = keyof typeof ANSWER_SCHEMAS;

/** A user as answers show it: every field, always, in this order. */
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

export function showProvider({ id, ...rest }: IdentityProvider): object {
  const { isDeactivated, issuer, jwksUrl, audience } = rest;
  return { identityProviderId: id, isDeactivated, issuer, jwksUrl, audience };
}

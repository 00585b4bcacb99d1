import { z } from 'zod';
import { annotations, message, optionalFlag, optionalText, rights, text } from './values.ts';

const providerId = () => optionalText('Id of the identity provider; empty for the default one.');

const metadata = z.object({
  resourceVersion: optionalText('Empty at creation. On update: the version that the change is based on, or empty.'),
  annotations,
});

const user = z
  .object({
    id: optionalText("1-128 letters, digits and @^$.!`-#+'~_|:()"),
    primaryParty: optionalText('A party id, or empty.'),
    isDeactivated: optionalFlag('A deactivated user is refused everything.'),
    metadata: message(metadata),
    identityProviderId: providerId(),
    primaryPartyAuthentication: optionalFlag('Stored and answered; nothing depends on it.'),
  })
  .transform(({ metadata, ...rest }) => ({
    ...rest,
    resourceVersion: metadata?.resourceVersion ?? '',
    annotations: metadata?.annotations ?? new Map<string, string>(),
  }));

/** A user in a request: decoded, not validated yet. Texts are empty where unset. */
export type GivenUser = Readonly<z.output<typeof user>>;
export const EMPTY_USER: GivenUser = user.parse({});

const provider = z
  .object({
    identityProviderId: optionalText('1-255 letters, digits and ._:-#/ and space'),
    isDeactivated: optionalFlag('Tokens of a deactivated provider are refused.'),
    issuer: optionalText('The `iss` of its tokens.'),
    jwksUrl: optionalText('A http or https URL of its key set.'),
    audience: optionalText('What `aud` of its tokens must contain, or empty.'),
  })
  .transform(({ identityProviderId, ...rest }) => ({ id: identityProviderId, ...rest }));

export type GivenProvider = Readonly<z.output<typeof provider>>;

const updateMask = message(
  z.object({ paths: z.array(text()).default([]) }).meta({ description: 'Fields to change, in snake_case.' }),
);

export const createUserRequest = z.object({ user: message(user), rights }).meta({ id: 'CreateUserRequest' });
export type CreateUserRequest = Readonly<z.output<typeof createUserRequest>>;

export const updateUserRequest = z
  .object({ user: message(user), updateMask })
  .transform(({ user, updateMask }) => ({ user, updatePaths: updateMask?.paths ?? null }))
  .meta({ id: 'UpdateUserRequest' });
export type UpdateUserRequest = Readonly<z.output<typeof updateUserRequest>>;

export const changeRightsRequest = z
  .object({ userId: optionalText('The user, as in the path.'), rights, identityProviderId: providerId() })
  .meta({ id: 'ChangeUserRightsRequest' });
export type ChangeRightsRequest = Readonly<z.output<typeof changeRightsRequest>>;

export const moveUserRequest = z
  .object({
    userId: optionalText('The user, as in the path.'),
    sourceIdentityProviderId: providerId(),
    targetIdentityProviderId: providerId(),
  })
  .meta({ id: 'UpdateUserIdentityProviderIdRequest' });
export type MoveUserRequest = Readonly<z.output<typeof moveUserRequest>>;

export const createProviderRequest = z
  .object({ identityProviderConfig: message(provider) })
  .transform(({ identityProviderConfig }) => identityProviderConfig)
  .meta({ id: 'CreateIdentityProviderConfigRequest' });

export const updateProviderRequest = z
  .object({ identityProviderConfig: message(provider), updateMask })
  .transform(({ identityProviderConfig, updateMask }) => ({
    provider: identityProviderConfig,
    updatePaths: updateMask?.paths ?? null,
  }))
  .meta({ id: 'UpdateIdentityProviderConfigRequest' });
export type UpdateProviderRequest = Readonly<z.output<typeof updateProviderRequest>>;

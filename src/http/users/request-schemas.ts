import { z } from 'zod';
import type { GivenProvider, GivenUser, UpdateProviderRequest, UpdateUserRequest } from '../../users/rules/request.ts';
import { annotations, message, optionalFlag, optionalText, rights, text } from './value-schemas.ts';

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
  .transform(
    ({ metadata, ...rest }): GivenUser => ({
      ...rest,
      resourceVersion: metadata?.resourceVersion ?? '',
      annotations: metadata?.annotations ?? new Map(),
    }),
  );

const provider = z
  .object({
    identityProviderId: optionalText('1-255 letters, digits and ._:-#/ and space'),
    isDeactivated: optionalFlag('Tokens of a deactivated provider are refused.'),
    issuer: optionalText('The `iss` of its tokens.'),
    jwksUrl: optionalText('A http or https URL of its key set.'),
    audience: optionalText('What `aud` of its tokens must contain, or empty.'),
  })
  .transform(({ identityProviderId, ...rest }): GivenProvider => ({ id: identityProviderId, ...rest }));

const updateMask = message(
  z.object({ paths: z.array(text()).default([]) }).meta({ description: 'Fields to change, in snake_case.' }),
);

export const createUserRequest = z.object({ user: message(user), rights }).meta({ id: 'CreateUserRequest' });

export const updateUserRequest = z
  .object({ user: message(user), updateMask })
  .transform(({ user, updateMask }): UpdateUserRequest => ({ user, updatePaths: updateMask?.paths ?? null }))
  .meta({ id: 'UpdateUserRequest' });

export const changeRightsRequest = z
  .object({ userId: optionalText('The user, as in the path.'), rights, identityProviderId: providerId() })
  .meta({ id: 'ChangeUserRightsRequest' });

export const moveUserRequest = z
  .object({
    userId: optionalText('The user, as in the path.'),
    sourceIdentityProviderId: providerId(),
    targetIdentityProviderId: providerId(),
  })
  .meta({ id: 'UpdateUserIdentityProviderIdRequest' });

export const createProviderRequest = z
  .object({ identityProviderConfig: message(provider) })
  .transform(({ identityProviderConfig }) => identityProviderConfig)
  .meta({ id: 'CreateIdentityProviderConfigRequest' });

export const updateProviderRequest = z
  .object({ identityProviderConfig: message(provider), updateMask })
  .transform(
    ({ identityProviderConfig, updateMask }): UpdateProviderRequest => ({
      provider: identityProviderConfig,
      updatePaths: updateMask?.paths ?? null,
    }),
  )
  .meta({ id: 'UpdateIdentityProviderConfigRequest' });

import { z } from 'zod';
import { createProviderRequest, updateProviderRequest } from '../../users/requests/bodies.ts';
import {
  createIdentityProvider,
  deleteIdentityProvider,
  listIdentityProviders,
  readIdentityProvider,
  updateIdentityProvider,
} from '../../users/rules/identity-providers.ts';
import { EMPTY_ANSWER, identityProviderConfig, showProvider } from './answers.ts';
import { reading, type UsersOperation, writing } from './operation.ts';
import { checkSameId } from './request.ts';

const PROVIDER = { service: 'identity provider' } as const;
const ALL = '/v2/idps';
const BY_ID = '/v2/idps/{idp-id}';
const providerAnswer = z.strictObject({ identityProviderConfig }).meta({ id: 'IdentityProviderConfigAnswer' });

export const PROVIDER_OPERATIONS: readonly UsersOperation[] = [
  reading({
    ...PROVIDER,
    operationId: 'listIdentityProviderConfigs',
    summary: 'List the identity providers, by id',
    path: ALL,
    answer: z
      .strictObject({ identityProviderConfigs: z.array(identityProviderConfig) })
      .meta({ id: 'ListIdentityProviderConfigsAnswer' }),
    run: (call) => ({ identityProviderConfigs: listIdentityProviders(call).map(showProvider) }),
  }),
  writing({
    ...PROVIDER,
    operationId: 'createIdentityProviderConfig',
    summary: 'Add an identity provider',
    method: 'POST',
    path: ALL,
    body: createProviderRequest,
    answer: providerAnswer,
    subject: (body) => body?.id,
    run: (call) => ({ identityProviderConfig: showProvider(createIdentityProvider(call)) }),
  }),
  reading({
    ...PROVIDER,
    operationId: 'getIdentityProviderConfig',
    summary: 'Get an identity provider',
    path: BY_ID,
    answer: providerAnswer,
    run: (call) => ({ identityProviderConfig: showProvider(readIdentityProvider(call)) }),
  }),
  writing({
    ...PROVIDER,
    operationId: 'updateIdentityProviderConfig',
    summary: 'Change what the update mask names',
    method: 'PATCH',
    path: BY_ID,
    body: updateProviderRequest,
    answer: providerAnswer,
    checkIds: ({ id, body }) => checkSameId({ path: id, body: body.provider?.id ?? null }, 'idp'),
    run: (call) => ({ identityProviderConfig: showProvider(updateIdentityProvider(call)) }),
  }),
  writing({
    ...PROVIDER,
    operationId: 'deleteIdentityProviderConfig',
    summary: 'Remove an identity provider that no user refers to',
    method: 'DELETE',
    path: BY_ID,
    body: null,
    answer: EMPTY_ANSWER,
    run: (call) => {
      deleteIdentityProvider(call);
      return {};
    },
  }),
];

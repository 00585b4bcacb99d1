import { z } from 'zod';
import type { Call } from '../users/caller.ts';
import {
  createIdentityProvider,
  deleteIdentityProvider,
  listIdentityProviders,
  readIdentityProvider,
  updateIdentityProvider,
} from '../users/identity-providers.ts';
import type { IdentityProvider, Right, User } from '../users/user.ts';
import {
  changeRightsRequest,
  createProviderRequest,
  createUserRequest,
  documentedRight,
  moveUserRequest,
  updateProviderRequest,
  updateUserRequest,
} from '../users/user-requests.ts';
import {
  createUser,
  deleteUser,
  grantRights,
  listRights,
  listUsers,
  moveUser,
  readUser,
  revokeRights,
  updateUser,
} from '../users/user-rules.ts';
import type { UsersConfig } from '../users/users-config.ts';
import type { UsersWriter } from '../users/users-store.ts';
import type { OperationFacts } from './json-operation.ts';
import { checkPathUserId, checkSameId, type PathParameter, type QueryParameter } from './users-area-request.ts';

/**
 * An operation and its description; routes and document are made from one list. It has only its names in common with the
 * operations of the other areas: here token, path and body are checked in a fixed order (docs/rules.md, order of a request), some
 * faults are plain text, and a handler runs within a transaction, with the caller known. As in the other areas, what takes the
 * body is written as a method: each gets the result of its own schema.
 */
export interface UsersOperation<Body = unknown> extends OperationFacts {
  readonly path: `/v2/${'users' | 'idps' | 'authenticated-user'}${'' | `/{${PathParameter}}${'' | '/rights' | '/identity-provider-id'}`}`;
  readonly query?: readonly QueryParameter[];
  readonly body: z.ZodType<Body> | null;
  /** Like a body, named by the `id` in its meta. */
  readonly answer: z.ZodType;
  /** The reference's service that it belongs to: only the one for users puts the participant in quotes. */
  readonly service: 'user' | 'identity provider';
  /** Whether errors have a submission id. */
  readonly submission?: true;
  /** Called by every client very often, only about itself: logged at debug. */
  readonly ownRecordOnly?: true;
  /** The user or provider that it concerns, for the log; only where the path has no id. */
  subject?(body: Body): string | undefined;
  /** Checks made before a missing token is reported: the id of the path, and that the body has the same. */
  checkIds?(ids: { readonly id: string; readonly body: Body }): void;
  /** Runs within a transaction; that of a GET only reads. */
  run(call: Call<UsersWriter, Body>): object;
}

/** Lets each operation have the result of its own body's schema. */
function operation<Body>(given: UsersOperation<Body>): UsersOperation<Body> {
  return given;
}

const READING = { method: 'GET', body: null } as const;

const shownUser = z
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

const identityProviderConfig = z
  .strictObject({
    identityProviderId: z.string(),
    isDeactivated: z.boolean(),
    issuer: z.string(),
    jwksUrl: z.string(),
    audience: z.string(),
  })
  .meta({ id: 'IdentityProviderConfig' });

const EMPTY_ANSWER = z.strictObject({}).meta({ id: 'EmptyAnswer' });

function answeredEmpty<GivenCall>(rule: (call: GivenCall) => void) {
  const run = (call: GivenCall): object => {
    rule(call);
    return {};
  };
  return { answer: EMPTY_ANSWER, run };
}

/** A user in answers: always every field, in this order. */
function showUser(user: User): object {
  const { id, primaryParty, isDeactivated, identityProviderId, primaryPartyAuthentication } = user;
  const metadata = {
    resourceVersion: user.resourceVersion.toString(),
    annotations: Object.fromEntries(user.annotations),
  };
  return { id, primaryParty, isDeactivated, metadata, identityProviderId, primaryPartyAuthentication };
}

function showRight({ kind, party }: Right): object {
  return { kind: { [kind]: { value: party === '' ? {} : { party } } } };
}

function showProvider({ id, isDeactivated, issuer, jwksUrl, audience }: IdentityProvider): object {
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

const USER = { service: 'user' } as const;
const CHANGE = { service: 'user', submission: true } as const;
const BY_ID = '/v2/users/{user-id}';
const userAnswer = z.strictObject({ user: shownUser }).meta({ id: 'UserAnswer' });

const USER_OPERATIONS: readonly UsersOperation[] = [
  operation({
    ...USER,
    ...READING,
    operationId: 'listUsers',
    summary: 'List the users of one identity provider, by id',
    path: '/v2/users',
    query: ['pageSize', 'pageToken'],
    answer: z.strictObject({ users: z.array(shownUser), nextPageToken: z.string() }).meta({ id: 'ListUsersAnswer' }),
    run: (call) => {
      const { users, nextPageToken } = listUsers(call);
      return { users: users.map(showUser), nextPageToken };
    },
  }),
  operation({
    ...CHANGE,
    operationId: 'createUser',
    summary: 'Create a user with its rights',
    method: 'POST',
    path: '/v2/users',
    body: createUserRequest,
    answer: userAnswer,
    subject: (body) => body.user?.id,
    run: (call) => ({ user: showUser(createUser(call)) }),
  }),
  operation({
    ...USER,
    ...READING,
    operationId: 'getUser',
    summary: 'Get a user: the caller, or any user for an administrator',
    path: BY_ID,
    query: ['identity-provider-id'],
    answer: userAnswer,
    checkIds: checkPathUserId,
    run: (call) => ({ user: showUser(readUser(call)) }),
  }),
  operation({
    ...CHANGE,
    operationId: 'updateUser',
    summary: 'Change what the update mask names',
    method: 'PATCH',
    path: BY_ID,
    body: updateUserRequest,
    answer: userAnswer,
    checkIds: ({ id, body }) => checkSameId(id, body.user?.id ?? null),
    run: (call) => ({ user: showUser(updateUser(call)) }),
  }),
  operation({
    ...CHANGE,
    operationId: 'deleteUser',
    summary: 'Delete a user, with its rights',
    method: 'DELETE',
    path: BY_ID,
    body: null,
    checkIds: checkPathUserId,
    ...answeredEmpty(deleteUser),
  }),
  operation({
    ...USER,
    operationId: 'updateUserIdentityProviderId',
    summary: 'Move a user to another identity provider',
    method: 'PATCH',
    path: `${BY_ID}/identity-provider-id`,
    body: moveUserRequest,
    checkIds: ({ id, body }) => checkSameId(id, body.userId),
    ...answeredEmpty(moveUser),
  }),
  operation({
    ...USER,
    ...READING,
    operationId: 'getAuthenticatedUser',
    summary: 'Get the user of the token',
    path: '/v2/authenticated-user',
    query: ['identity-provider-id'],
    answer: userAnswer,
    ownRecordOnly: true,
    run: (call) => ({ user: showUser(readUser({ ...call, id: call.caller.userId })) }),
  }),
];

const RIGHTS = '/v2/users/{user-id}/rights';
const rights = z.array(documentedRight);

const RIGHT_OPERATIONS: readonly UsersOperation[] = [
  operation({
    ...USER,
    ...READING,
    operationId: 'listUserRights',
    summary: 'List the rights of a user; a user that is no administrator only has access to its own',
    path: RIGHTS,
    answer: z.strictObject({ rights }).meta({ id: 'ListUserRightsAnswer' }),
    checkIds: checkPathUserId,
    run: (call) => ({ rights: listRights(call).map(showRight) }),
  }),
  operation({
    ...CHANGE,
    operationId: 'grantUserRights',
    summary: 'Grant rights to a user; the answer has those it did not have',
    method: 'POST',
    path: RIGHTS,
    body: changeRightsRequest,
    answer: z.strictObject({ newlyGrantedRights: rights }).meta({ id: 'GrantUserRightsAnswer' }),
    checkIds: ({ id, body }) => checkSameId(id, body.userId),
    run: (call) => ({ newlyGrantedRights: grantRights(call).map(showRight) }),
  }),
  operation({
    ...CHANGE,
    operationId: 'revokeUserRights',
    summary: 'Revoke rights of a user; the answer has those it had',
    method: 'PATCH',
    path: RIGHTS,
    body: changeRightsRequest,
    answer: z.strictObject({ newlyRevokedRights: rights }).meta({ id: 'RevokeUserRightsAnswer' }),
    checkIds: ({ id, body }) => checkSameId(id, body.userId),
    run: (call) => ({ newlyRevokedRights: revokeRights(call).map(showRight) }),
  }),
];

const PROVIDER = { service: 'identity provider' } as const;
const PROVIDERS = '/v2/idps';
const PROVIDER_BY_ID = '/v2/idps/{idp-id}';
const providerAnswer = z.strictObject({ identityProviderConfig }).meta({ id: 'IdentityProviderConfigAnswer' });

const PROVIDER_OPERATIONS: readonly UsersOperation[] = [
  operation({
    ...PROVIDER,
    ...READING,
    operationId: 'listIdentityProviderConfigs',
    summary: 'List the identity providers, by id',
    path: PROVIDERS,
    answer: z
      .strictObject({ identityProviderConfigs: z.array(identityProviderConfig) })
      .meta({ id: 'ListIdentityProviderConfigsAnswer' }),
    run: (call) => ({ identityProviderConfigs: listIdentityProviders(call).map(showProvider) }),
  }),
  operation({
    ...PROVIDER,
    operationId: 'createIdentityProviderConfig',
    summary: 'Add an identity provider',
    method: 'POST',
    path: PROVIDERS,
    body: createProviderRequest,
    answer: providerAnswer,
    subject: (body) => body?.id,
    run: (call) => ({ identityProviderConfig: showProvider(createIdentityProvider(call)) }),
  }),
  operation({
    ...PROVIDER,
    ...READING,
    operationId: 'getIdentityProviderConfig',
    summary: 'Get an identity provider',
    path: PROVIDER_BY_ID,
    answer: providerAnswer,
    run: (call) => ({ identityProviderConfig: showProvider(readIdentityProvider(call)) }),
  }),
  operation({
    ...PROVIDER,
    operationId: 'updateIdentityProviderConfig',
    summary: 'Change what the update mask names',
    method: 'PATCH',
    path: PROVIDER_BY_ID,
    body: updateProviderRequest,
    answer: providerAnswer,
    checkIds: ({ id, body }) => checkSameId(id, body.provider?.id ?? null, 'idp'),
    run: (call) => ({ identityProviderConfig: showProvider(updateIdentityProvider(call)) }),
  }),
  operation({
    ...PROVIDER,
    operationId: 'deleteIdentityProviderConfig',
    summary: 'Remove an identity provider that no user refers to',
    method: 'DELETE',
    path: PROVIDER_BY_ID,
    body: null,
    ...answeredEmpty(deleteIdentityProvider),
  }),
];

/** Every operation of the area that needs a token: routes, document and log follow this list. */
export const USERS_OPERATIONS: readonly UsersOperation[] = [
  ...USER_OPERATIONS,
  ...RIGHT_OPERATIONS,
  ...PROVIDER_OPERATIONS,
];

/** The one that needs none: official clients call it before anything else. */
export const VERSION_OPERATION = {
  operationId: 'getVersion',
  summary: 'Get the version of the API and what the ledger can do',
  method: 'GET',
  path: '/v2/version',
  answer: z.strictObject({ version: z.string(), features: z.looseObject({}) }).meta({ id: 'VersionAnswer' }),
} as const;

import { z } from 'zod';
import { createUserRequest, moveUserRequest, updateUserRequest } from '../../users/requests/bodies.ts';
import { createUser, deleteUser, moveUser } from '../../users/rules/change-users.ts';
import { listUsers, readUser } from '../../users/rules/read-users.ts';
import { updateUser } from '../../users/rules/update-user.ts';
import { EMPTY_ANSWER, showUser, user } from './answers.ts';
import { reading, type UsersOperation, writing } from './operation.ts';
import { checkPathUserId, checkSameId } from './request.ts';

const USER = { service: 'user' } as const;
const CHANGE = { service: 'user', submission: true } as const;
const BY_ID = '/v2/users/{user-id}';
const userAnswer = z.strictObject({ user }).meta({ id: 'UserAnswer' });

export const USER_OPERATIONS: readonly UsersOperation[] = [
  reading({
    ...USER,
    operationId: 'listUsers',
    summary: 'List the users of one identity provider, by id',
    path: '/v2/users',
    query: ['pageSize', 'pageToken'],
    answer: z.strictObject({ users: z.array(user), nextPageToken: z.string() }).meta({ id: 'ListUsersAnswer' }),
    run: ({ users, caller, config, query }) => {
      const page = listUsers(users, { caller, request: query, pageSizeMax: config.usersPageSizeMax });
      return { users: page.users.map(showUser), nextPageToken: page.nextPageToken };
    },
  }),
  writing({
    ...CHANGE,
    operationId: 'createUser',
    summary: 'Create a user with its rights',
    method: 'POST',
    path: '/v2/users',
    body: createUserRequest,
    answer: userAnswer,
    subject: (body) => body.user?.id,
    run: ({ users, caller, config, body }) => ({
      user: showUser(createUser(users, { caller, request: body, limits: config })),
    }),
  }),
  reading({
    ...USER,
    operationId: 'getUser',
    summary: 'Get a user: the caller, or any user for an administrator',
    path: BY_ID,
    query: ['identity-provider-id'],
    answer: userAnswer,
    checkIds: checkPathUserId,
    run: ({ users, caller, id, query }) => ({
      user: showUser(readUser(users, { caller, userId: id, identityProviderId: query.identityProviderId })),
    }),
  }),
  writing({
    ...CHANGE,
    operationId: 'updateUser',
    summary: 'Change what the update mask names',
    method: 'PATCH',
    path: BY_ID,
    body: updateUserRequest,
    answer: userAnswer,
    checkIds: ({ id, body }) => checkSameId({ path: id, body: body.user?.id ?? null }, 'user'),
    run: ({ users, caller, body }) => ({ user: showUser(updateUser(users, { caller, request: body })) }),
  }),
  writing({
    ...CHANGE,
    operationId: 'deleteUser',
    summary: 'Delete a user, with its rights',
    method: 'DELETE',
    path: BY_ID,
    body: null,
    answer: EMPTY_ANSWER,
    checkIds: checkPathUserId,
    run: ({ users, caller, id }) => {
      deleteUser(users, { caller, userId: id });
      return {};
    },
  }),
  writing({
    ...USER,
    operationId: 'updateUserIdentityProviderId',
    summary: 'Move a user to another identity provider',
    method: 'PATCH',
    path: `${BY_ID}/identity-provider-id`,
    body: moveUserRequest,
    answer: EMPTY_ANSWER,
    checkIds: ({ id, body }) => checkSameId({ path: id, body: body.userId }, 'user'),
    run: ({ users, caller, body }) => {
      moveUser(users, { caller, request: body });
      return {};
    },
  }),
  reading({
    ...USER,
    operationId: 'getAuthenticatedUser',
    summary: 'Get the user of the token',
    path: '/v2/authenticated-user',
    query: ['identity-provider-id'],
    answer: userAnswer,
    ownRecordOnly: true,
    run: ({ users, caller, query }) => {
      const { identityProviderId } = query;
      return { user: showUser(readUser(users, { caller, userId: caller.userId, identityProviderId })) };
    },
  }),
];

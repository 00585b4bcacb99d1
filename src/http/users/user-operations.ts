import { z } from 'zod';
import { createUserRequest, moveUserRequest, updateUserRequest } from '../../users/requests/bodies.ts';
import { createUser, deleteUser, moveUser } from '../../users/rules/change-users.ts';
import { listUsers, readUser } from '../../users/rules/read-users.ts';
import { updateUser } from '../../users/rules/update-user.ts';
import { EMPTY_ANSWER, showUser, user } from './answers.ts';
import { reading, type UsersOperation, writing } from './operation.ts';
import { checkPathUserId, checkSameId, checkSameUserId } from './request.ts';

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
    run: (call) => {
      const { users, nextPageToken } = listUsers(call);
      return { users: users.map(showUser), nextPageToken };
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
    run: (call) => ({ user: showUser(createUser(call)) }),
  }),
  reading({
    ...USER,
    operationId: 'getUser',
    summary: 'Get a user: the caller, or any user for an administrator',
    path: BY_ID,
    query: ['identity-provider-id'],
    answer: userAnswer,
    checkIds: checkPathUserId,
    run: (call) => ({ user: showUser(readUser(call)) }),
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
    run: (call) => ({ user: showUser(updateUser(call)) }),
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
    run: (call) => {
      deleteUser(call);
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
    checkIds: (ids) => checkSameUserId(ids),
    run: (call) => {
      moveUser(call);
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
    run: (call) => ({ user: showUser(readUser({ ...call, id: call.caller.userId })) }),
  }),
];

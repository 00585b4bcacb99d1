import { checkAnnotations } from '../annotations.ts';
import { ledgerStringFault } from '../formats.ts';
import { type CreateUserRequest, EMPTY_USER, type MoveUserRequest } from '../requests/bodies.ts';
import { distinctRights } from '../right.ts';
import type { UsersWriter } from '../store/users-writer.ts';
import type { User } from '../user.ts';
import {
  invalidArgument,
  invalidField,
  missingField,
  permissionDenied,
  tooManyRights,
  UsersError,
  userError,
} from '../users-error.ts';
import { effectiveProvider, requireAdminFor, requireParticipantAdmin, requireUserAdmin } from './authorize.ts';
import type { Call } from './caller.ts';
import {
  checkPartiesKnown,
  checkPrimaryParty,
  checkProviderExists,
  checkRights,
  checkUserId,
  findUser,
} from './user-checks.ts';

/** Creates a user with its rights; the order of the checks is the reference's. */
export function createUser({ users, caller, config, body }: Call<UsersWriter, CreateUserRequest>): User {
  requireAdminFor(caller, body.rights);
  const identityProviderId = effectiveProvider(caller, body.user?.identityProviderId ?? '');
  // For an identity provider admin, filling in the provider creates a user where none was given.
  const given = body.user ?? (caller.participantAdmin ? null : EMPTY_USER);
  if (given === null) throw missingField('user');
  checkUserId(given.id, 'id');
  if (given.resourceVersion !== '') throw invalidArgument('field user.metadata.resource_version must be not set');
  checkAnnotations(given.annotations, 'forbidden');
  checkPrimaryParty(given.primaryParty);
  const rights = distinctRights(checkRights(body.rights));
  checkProviderExists(users, identityProviderId);
  checkPartiesKnown(caller, rights, identityProviderId);
  checkIdFree(users, given.id, identityProviderId);
  if (rights.length > config.rightsPerUserMax) throw tooManyRights('creating user', given.id);
  if (users.userCount >= config.usersMax)
    throw new UsersError('TOO_MANY_USERS', `creating user failed, as there are already ${config.usersMax} users`);
  const user = { ...given, identityProviderId, resourceVersion: 0n };
  users.insertUser(user);
  for (const right of rights) users.grantRight(user.id, right);
  return user;
}

/** User ids are unique across identity providers; that an id is taken in another provider is not shown. */
function checkIdFree(users: UsersWriter, id: string, identityProviderId: string): void {
  const existing = users.user(id);
  if (existing === null) return;
  if (existing.identityProviderId !== identityProviderId)
    throw permissionDenied('the user id is taken in another identity provider', 'service');
  throw userError('USER_ALREADY_EXISTS', id, `creating user failed, as user "${id}" already exists`);
}

/** Deletes a user with its rights and annotations (docs/rules.md, users). A user cannot delete itself. */
export function deleteUser({ users, caller, id }: Call<UsersWriter>): void {
  requireUserAdmin(caller);
  const identityProviderId = effectiveProvider(caller, '');
  if (id === caller.userId) throw invalidArgument('Requesting user cannot delete itself');
  findUser(users, { id, identityProviderId, operation: 'deleting user' });
  users.deleteUser(id);
}

/** Moves a user from one identity provider to another, or to the same; its version stays (docs/rules.md, users). */
export function moveUser({ users, caller, body }: Call<UsersWriter, MoveUserRequest>): void {
  const { userId, sourceIdentityProviderId: source, targetIdentityProviderId: target } = body;
  requireParticipantAdmin(caller);
  checkUserId(userId, 'user_id');
  checkProviderId(source, 'source_identity_provider_id');
  checkProviderId(target, 'target_identity_provider_id');
  checkProviderExists(users, source);
  checkProviderExists(users, target);
  const user = findUser(users, { id: userId, identityProviderId: source, operation: 'update user identity provider' });
  users.updateUser({ ...user, identityProviderId: target });
}

function checkProviderId(id: string, fieldName: string): void {
  const fault = id === '' ? null : ledgerStringFault(id);
  if (fault !== null) throw invalidField(fieldName, fault);
}

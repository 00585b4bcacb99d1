import type { ChangeRightsRequest } from '../requests/bodies.ts';
import { distinctRights, type Right, rightKey } from '../right.ts';
import type { UsersReader } from '../store/users-reader.ts';
import type { UsersWriter } from '../store/users-writer.ts';
import { invalidArgument, tooManyRights } from '../users-error.ts';
import { effectiveProvider, requireAdminFor } from './authorize.ts';
import type { Call, Caller } from './caller.ts';
import { checkPartiesKnown, checkRights, checkUserId, findUser } from './user-checks.ts';

type CheckedRequest = Omit<ChangeRightsRequest, 'rights'> & { readonly rights: readonly Right[] };

/**
 * Gives a user rights; the answer has only the new ones (docs/rules.md, users). The limit is
 * checked before the first is stored: a body may name hundreds of thousands.
 */
export function grantRights({ users, caller, config, body }: Call<UsersWriter, ChangeRightsRequest>): readonly Right[] {
  const { userId, rights, identityProviderId } = checkRequest(caller, body);
  checkPartiesKnown(caller, rights, identityProviderId);
  findUser(users, { id: userId, identityProviderId, operation: 'grant user rights' });
  const held = heldKeys(users, userId);
  const granted = rights.filter((right) => !held.has(rightKey(right)));
  if (held.size + granted.length > config.rightsPerUserMax) throw tooManyRights('grant user rights', userId);
  for (const right of granted) users.grantRight(userId, right);
  return granted;
}

/** Takes rights from a user; the answer has only those removed. A user cannot take its own ParticipantAdmin. */
export function revokeRights({ users, caller, body }: Call<UsersWriter, ChangeRightsRequest>): readonly Right[] {
  const { userId, rights, identityProviderId } = checkRequest(caller, body);
  if (userId === caller.userId && rights.some((right) => right.kind === 'ParticipantAdmin'))
    throw invalidArgument('Requesting user cannot remove own admin rights');
  findUser(users, { id: userId, identityProviderId, operation: 'revoke user rights' });
  const held = heldKeys(users, userId);
  const revoked = rights.filter((right) => held.has(rightKey(right)));
  for (const right of revoked) users.revokeRight(userId, right);
  return revoked;
}

function heldKeys(users: UsersReader, userId: string): ReadonlySet<string> {
  return new Set(users.rights(userId).map(rightKey));
}

/** The provider's existence is not checked: an unknown one has no users, so the user's look-up refuses it. */
function checkRequest(caller: Caller, request: ChangeRightsRequest): CheckedRequest {
  requireAdminFor(caller, request.rights);
  const identityProviderId = effectiveProvider(caller, request.identityProviderId);
  checkUserId(request.userId, 'user_id');
  return { userId: request.userId, rights: distinctRights(checkRights(request.rights)), identityProviderId };
}

import { ledgerStringFault } from '../id-formats.ts';
import type { UsersWriter } from '../store/users-writer.ts';
import { invalidField } from '../users-error.ts';
import { requireParticipantAdmin } from './authorize.ts';
import type { Caller } from './caller.ts';
import type { MoveUserRequest } from './request.ts';
import { checkProviderExists, checkUserId, findUser } from './user-checks.ts';

/** Moves a user from one identity provider to another, or to the same; its version stays (docs/rules.md, users). */
export function moveUser(users: UsersWriter, { caller, request }: { caller: Caller; request: MoveUserRequest }): void {
  const { userId, sourceIdentityProviderId: source, targetIdentityProviderId: target } = request;
  requireParticipantAdmin(caller);
  checkUserId(userId, 'user_id');
  checkProviderId(source, 'source_identity_provider_id');
  checkProviderId(target, 'target_identity_provider_id');
  checkProviderExists(users, source);
  checkProviderExists(users, target);
  findUser(users, { id: userId, identityProviderId: source, verb: 'update user identity provider' });
  users.moveUser(userId, target);
}

function checkProviderId(id: string, fieldName: string): void {
  const fault = id === '' ? null : ledgerStringFault(id);
  if (fault !== null) throw invalidField(fieldName, fault);
}

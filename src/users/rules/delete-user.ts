import type { UsersWriter } from '../store/users-writer.ts';
import { invalidArgument } from '../users-error.ts';
import { effectiveProvider, requireUserAdmin } from './authorize.ts';
import type { Caller } from './caller.ts';
import { findUser } from './user-checks.ts';

/** Deletes a user with its rights and annotations (docs/rules.md, users). A user cannot delete itself. */
export function deleteUser(users: UsersWriter, { caller, userId }: { caller: Caller; userId: string }): void {
  requireUserAdmin(caller);
  const identityProviderId = effectiveProvider(caller, '');
  if (userId === caller.userId) throw invalidArgument('Requesting user cannot delete itself');
  findUser(users, { id: userId, identityProviderId, verb: 'deleting user' });
  users.deleteUser(userId);
}

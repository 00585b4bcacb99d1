import { partyFault, userIdFault } from '../formats.ts';
import { type GivenRight, isPartyKind, type Right } from '../right.ts';
import type { UsersReader } from '../store/users-reader.ts';
import { DEFAULT_PROVIDER, type User } from '../user.ts';
import {
  invalidArgument,
  invalidField,
  missingField,
  permissionDenied,
  UsersError,
  userError,
} from '../users-error.ts';
import type { Caller } from './caller.ts';

/** Throws MISSING_FIELD or INVALID_FIELD for a user id in a body, with the field's name for the message. */
export function checkUserId(id: string, fieldName: string): void {
  if (id === '') throw missingField(fieldName);
  const fault = userIdFault(id);
  if (fault !== null) throw invalidField(fieldName, fault);
}

/** Throws INVALID_ARGUMENT for a malformed primary party; empty is unset. */
export function checkPrimaryParty(party: string): void {
  const fault = party === '' ? null : partyFault(party);
  if (fault !== null) throw invalidArgument(fault);
}

/** The rights of a request, in its order; throws INVALID_ARGUMENT for the first without a kind or a party. */
export function checkRights(rights: readonly GivenRight[]): readonly Right[] {
  return rights.map((right) => {
    if (right.kind === 'Empty')
      throw invalidArgument('unknown kind of right - check that the Ledger API version of the server is recent enough');
    const fault = isPartyKind(right.kind) ? partyFault(right.party) : null;
    if (fault !== null) throw invalidArgument(fault);
    return right;
  });
}

/** Throws INVALID_ARGUMENT for an identity provider that does not exist; a deactivated one does. */
export function checkProviderExists(users: UsersReader, id: string): void {
  if (id !== DEFAULT_PROVIDER && users.identityProvider(id) === null)
    throw invalidArgument(`Provided identity_provider_id Id(${id}) has not been found.`);
}

/**
 * Party records are not kept, so to a caller who is no ParticipantAdmin all parties are unknown: UNKNOWN_RESOURCE, as for
 * parties that the reference has not allocated.
 */
export function checkPartiesKnown(caller: Caller, rights: readonly Right[], identityProviderId: string): void {
  if (caller.participantAdmin) return;
  const named = rights.filter(({ kind }) => kind === 'CanActAs' || kind === 'CanReadAs').map(({ party }) => party);
  const parties = [...new Set(named)];
  if (parties.length === 0) return;
  throw new UsersError(
    'UNKNOWN_RESOURCE',
    'The submitted request refers to a non-existing PARTIES: Provided parties have not been found ' +
      `in identity_provider_id=\`${identityProviderId}\`: [${parties.join(',')}].`,
    { resources: parties.map((party) => ['PARTIES', party] as const) },
  );
}

/** The user, in that identity provider; throws USER_NOT_FOUND, or PERMISSION_DENIED where it belongs to another one. */
export function findUser(
  users: UsersReader,
  { id, identityProviderId, operation }: { id: string; identityProviderId: string; operation: string },
): User {
  const user = users.user(id);
  if (user === null) throw userError('USER_NOT_FOUND', id, `${operation} failed for unknown user "${id}"`);
  if (user.identityProviderId !== identityProviderId)
    throw permissionDenied(`the user belongs to another identity provider`, 'service');
  return user;
}

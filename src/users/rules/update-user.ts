import { ANNOTATIONS_BYTES_MAX, type Annotations, annotationBytes, checkAnnotations } from '../annotations.ts';
import { parseJavaLong } from '../formats.ts';
import type { GivenUser, UpdateUserRequest } from '../requests/bodies.ts';
import type { UsersWriter } from '../store/users-writer.ts';
import type { User } from '../user.ts';
import { invalidArgument, invalidField, missingField, userError } from '../users-error.ts';
import { effectiveProvider, requireUserAdmin } from './authorize.ts';
import type { Call } from './caller.ts';
import { parseMask, type UpdateMask, USER_MASK_FIELDS } from './update-mask.ts';
import { checkPrimaryParty, checkProviderExists, checkUserId, findUser } from './user-checks.ts';

/** Changes what the mask names, and adds one to the version; the order of the checks is the reference's. */
export function updateUser({ users, caller, body }: Call<UsersWriter, UpdateUserRequest>): User {
  requireUserAdmin(caller);
  const { user: given, updatePaths } = body;
  const identityProviderId = effectiveProvider(caller, given?.identityProviderId ?? '');
  if (given === null) throw missingField('user');
  checkUserId(given.id, 'user.id');
  if (updatePaths === null) throw missingField('update_mask');
  checkPrimaryParty(given.primaryParty);
  const expectedVersion = parseVersion(given.resourceVersion);
  checkAnnotations(given.annotations, 'delete');
  const mask = parseMask(updatePaths, USER_MASK_FIELDS, (fault) => {
    const message = `Update operation for user id '${given.id}' failed due to: ${fault}`;
    return userError('INVALID_USER_UPDATE_REQUEST', given.id, message);
  });
  checkProviderExists(users, identityProviderId);
  const deactivates = mask.choose('is_deactivated', { given: given.isDeactivated, stored: false });
  if (deactivates && given.id === caller.userId) throw invalidArgument('Requesting user cannot self-deactivate');

  const stored = findUser(users, { id: given.id, identityProviderId, operation: 'updating user' });
  if (expectedVersion !== null && expectedVersion !== stored.resourceVersion) {
    const message = `Update operation for user '${given.id}' failed due to a concurrent update to the same user`;
    throw userError('CONCURRENT_USER_UPDATE_DETECTED', given.id, message);
  }
  const user = { ...merge(stored, given, mask), resourceVersion: stored.resourceVersion + 1n };
  if (annotationBytes(user.annotations) > ANNOTATIONS_BYTES_MAX) {
    const message = `Maximum annotations size for user '${user.id}' has been exceeded`;
    throw userError('MAX_USER_ANNOTATIONS_SIZE_EXCEEDED', user.id, message);
  }
  users.updateUser(user);
  if (user.annotations !== stored.annotations) users.replaceAnnotations(user);
  return user;
}

/** Null where no version is required. */
function parseVersion(text: string): bigint | null {
  const version = text === '' ? null : parseJavaLong(text);
  if (version === null && text !== '')
    throw invalidField('user.metadata.resource_version', 'Invalid resource version number');
  return version;
}

function merge(stored: User, given: GivenUser, mask: UpdateMask<(typeof USER_MASK_FIELDS)[number]>): User {
  return {
    ...stored,
    primaryParty: mask.choose('primary_party', { given: given.primaryParty, stored: stored.primaryParty }),
    isDeactivated: mask.choose('is_deactivated', { given: given.isDeactivated, stored: stored.isDeactivated }),
    primaryPartyAuthentication: mask.choose('primary_party_authentication', {
      given: given.primaryPartyAuthentication,
      stored: stored.primaryPartyAuthentication,
    }),
    annotations: mask.names('metadata.annotations')
      ? mergeAnnotations(stored.annotations, given.annotations)
      : stored.annotations,
  };
}

/** Keys given are set, those given empty are removed, others stay: there is no way to replace all. */
function mergeAnnotations(stored: Annotations, given: Annotations): Annotations {
  const merged = new Map([...stored, ...given]);
  for (const [key, value] of given) if (value === '') merged.delete(key);
  return merged;
}

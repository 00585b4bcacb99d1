import {
  type Call,
  type Caller,
  effectiveProvider,
  requireAdminFor,
  requireParticipantAdmin,
  requireUserAdmin,
} from './caller.ts';
import { parseMask, type UpdateMask, USER_MASK_FIELDS } from './update-mask.ts';
import {
  ANNOTATIONS_BYTES_MAX,
  type Annotations,
  annotationBytes,
  checkAnnotations,
  DEFAULT_PROVIDER,
  distinctRights,
  type GivenRight,
  isPartyKind,
  ledgerStringFault,
  parseJavaLong,
  partyFault,
  type Right,
  rightKey,
  type User,
  userIdFault,
} from './user.ts';
import {
  type ChangeRightsRequest,
  type CreateUserRequest,
  EMPTY_USER,
  type GivenUser,
  type MoveUserRequest,
  type UpdateUserRequest,
} from './user-requests.ts';
import {
  invalidArgument,
  invalidField,
  missingField,
  permissionDenied,
  UsersError,
  type UsersErrorCode,
} from './users-error.ts';
import type { UsersReader, UsersWriter } from './users-store.ts';

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
  const deactivates = mask.choose('is_deactivated', given.isDeactivated, false);
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
    primaryParty: mask.choose('primary_party', given.primaryParty, stored.primaryParty),
    isDeactivated: mask.choose('is_deactivated', given.isDeactivated, stored.isDeactivated),
    primaryPartyAuthentication: mask.choose(
      'primary_party_authentication',
      given.primaryPartyAuthentication,
      stored.primaryPartyAuthentication,
    ),
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

/** A page of users with large annotations ends early: the next user would make it larger than this. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;
/** More than a user takes as JSON without its annotations: its ids and party have their own limits. */
const USER_BYTES = 1024;

/** A user's record: its own, or another's for those who administer users (docs/rules.md, callers). */
export function readUser({ users, caller, id, query }: Call<UsersReader>): User {
  if (id !== caller.userId) requireUserAdmin(caller);
  const identityProviderId = effectiveProvider(caller, query.identityProviderId);
  return findUser(users, { id, identityProviderId, operation: 'getting user' });
}

/** The rights of a user, in the caller's provider: the request cannot name another. */
export function listRights({ users, caller, id }: Call<UsersReader>): readonly Right[] {
  if (id !== caller.userId) requireUserAdmin(caller);
  const identityProviderId = effectiveProvider(caller, '');
  findUser(users, { id, identityProviderId, operation: 'list user rights' });
  return users.rights(id);
}

/** One page of the users of one identity provider, by the byte value of their ids. */
export function listUsers({ users, caller, config, query: { pageSize, pageToken } }: Call<UsersReader>) {
  requireUserAdmin(caller);
  const identityProviderId = effectiveProvider(caller, '');
  const after = pageToken === '' ? '' : decodePageToken(pageToken);
  if (after === null || (after !== '' && userIdFault(after) !== null)) throw invalidArgument('Invalid page token');
  if (pageSize < 0) throw invalidArgument('Max page size must be non-negative');
  const size = pageSize === 0 ? config.usersPageSizeMax : Math.min(pageSize, config.usersPageSizeMax);
  const page: User[] = [];
  let bytes = 0;
  for (const user of users.usersAfter({ identityProviderId, after, size })) {
    bytes += USER_BYTES + jsonBytes(user.annotations);
    if (bytes > PAGE_BYTES_MAX) break;
    page.push(user);
  }
  const ended = page.length < size && bytes <= PAGE_BYTES_MAX;
  return { users: page, nextPageToken: ended ? '' : encodePageToken(page.at(-1)!.id) };
}

/** Their size in an answer, where a control character takes six bytes. */
function jsonBytes(annotations: Annotations): number {
  return annotations.size === 0 ? 2 : Buffer.byteLength(JSON.stringify([...annotations]));
}

/** Gives a user rights; answers with the new ones (docs/rules.md, users). The limit is checked first: a body may name hundreds of thousands. */
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
function checkRequest(caller: Caller, request: ChangeRightsRequest) {
  requireAdminFor(caller, request.rights);
  const identityProviderId = effectiveProvider(caller, request.identityProviderId);
  checkUserId(request.userId, 'user_id');
  return { userId: request.userId, rights: distinctRights(checkRights(request.rights)), identityProviderId };
}

/** Throws MISSING_FIELD or INVALID_FIELD for a user id in a body, with the field's name for the message. */
function checkUserId(id: string, fieldName: string): void {
  if (id === '') throw missingField(fieldName);
  const fault = userIdFault(id);
  if (fault !== null) throw invalidField(fieldName, fault);
}

/** Throws INVALID_ARGUMENT for a malformed primary party; empty is unset. */
function checkPrimaryParty(party: string): void {
  const fault = party === '' ? null : partyFault(party);
  if (fault !== null) throw invalidArgument(fault);
}

/** The rights of a request, in its order; throws INVALID_ARGUMENT for the first without a kind or a party. */
function checkRights(rights: readonly GivenRight[]): readonly Right[] {
  return rights.map((right) => {
    if (right.kind === 'Empty')
      throw invalidArgument('unknown kind of right - check that the Ledger API version of the server is recent enough');
    const fault = isPartyKind(right.kind) ? partyFault(right.party) : null;
    if (fault !== null) throw invalidArgument(fault);
    return right;
  });
}

/** Throws INVALID_ARGUMENT for an identity provider that does not exist; a deactivated one does. */
function checkProviderExists(users: UsersReader, id: string): void {
  if (id !== DEFAULT_PROVIDER && users.identityProvider(id) === null)
    throw invalidArgument(`Provided identity_provider_id Id(${id}) has not been found.`);
}

/** Party records are not kept, so to others than a ParticipantAdmin all parties are unknown: UNKNOWN_RESOURCE, as of the reference. */
function checkPartiesKnown(caller: Caller, rights: readonly Right[], identityProviderId: string): void {
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
function findUser(
  users: UsersReader,
  { id, identityProviderId, operation }: { id: string; identityProviderId: string; operation: string },
): User {
  const user = users.user(id);
  if (user === null) throw userError('USER_NOT_FOUND', id, `${operation} failed for unknown user "${id}"`);
  if (user.identityProviderId !== identityProviderId)
    throw permissionDenied(`the user belongs to another identity provider`, 'service');
  return user;
}

function userError(code: UsersErrorCode, userId: string, message: string): UsersError {
  return new UsersError(code, message, { resources: [['USER', userId]] });
}

/** `operation` as the reference names it in messages, such as `getting user failed for unknown user "bob"`. */
function tooManyRights(operation: string, userId: string): UsersError {
  return userError(
    'TOO_MANY_USER_RIGHTS',
    userId,
    `${operation} failed, as user "${userId}" would have too many rights.`,
  );
}

/** Field 1 of the reference's protobuf message, a text: the last user id of the page before. */
const FIELD_TAG = 0x0a;
const URL_SAFE = /^[A-Za-z0-9_-]*={0,2}$/;

/** URL-safe base64 with padding of the message: `user2` is `CgV1c2VyMg==`. User ids have at most 128 characters. */
export function encodePageToken(lastUserId: string): string {
  const id = Buffer.from(lastUserId, 'utf8');
  const length = id.length < 0x80 ? [id.length] : [(id.length & 0x7f) | 0x80, id.length >> 7];
  return Buffer.concat([Buffer.from([FIELD_TAG, ...length]), id])
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** The user id of a token, with or without padding; null for anything else. */
export function decodePageToken(token: string): string | null {
  if (!URL_SAFE.test(token)) return null;
  const bare = token.replace(/=+$/, '');
  if (bare.length % 4 === 1) return null;
  if (bare.length !== token.length && token.length % 4 !== 0) return null;
  const bytes = Buffer.from(bare, 'base64url');
  const long = (bytes[1] ?? 0) >= 0x80;
  const start = long ? 3 : 2;
  const length = long ? (bytes[1]! & 0x7f) | ((bytes[2] ?? 0) << 7) : bytes[1];
  if (bytes[0] !== FIELD_TAG || length === 0 || bytes.length - start !== length) return null;
  return bytes.toString('utf8', start);
}

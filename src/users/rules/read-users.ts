import type { Annotations } from '../annotations.ts';
import { userIdFault } from '../formats.ts';
import type { Right } from '../right.ts';
import type { UsersReader } from '../store/users-reader.ts';
import type { User } from '../user.ts';
import { invalidArgument } from '../users-error.ts';
import { effectiveProvider, requireSelfOrUserAdmin, requireUserAdmin } from './authorize.ts';
import type { Call } from './caller.ts';
import { decodePageToken, encodePageToken } from './page-token.ts';
import { findUser } from './user-checks.ts';

/** A page of users with large annotations ends early: the next user would make it larger than this. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;
/** More than a user takes as JSON without its annotations: its ids and party have their own limits. */
const USER_BYTES = 1024;

/** A user's record: its own, or another's for those who administer users (docs/rules.md, callers). */
export function readUser({ users, caller, id, query }: Call<UsersReader>): User {
  requireSelfOrUserAdmin(caller, id);
  const identityProviderId = effectiveProvider(caller, query.identityProviderId);
  return findUser(users, { id, identityProviderId, operation: 'getting user' });
}

/** The rights of a user, in the caller's provider: the request cannot name another. */
export function listRights({ users, caller, id }: Call<UsersReader>): readonly Right[] {
  requireSelfOrUserAdmin(caller, id);
  const identityProviderId = effectiveProvider(caller, '');
  findUser(users, { id, identityProviderId, operation: 'list user rights' });
  return users.rights(id);
}

interface UsersPage {
  readonly users: readonly User[];
  readonly nextPageToken: string;
}

/** One page of the users of one identity provider, by the byte value of their ids. */
export function listUsers({ users, caller, config, query: { pageSize, pageToken } }: Call<UsersReader>): UsersPage {
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

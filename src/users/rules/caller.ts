import { userIdFault } from '../formats.ts';
import type { UsersReader } from '../store/users-reader.ts';
import type { VerifiedToken } from '../tokens/token-verifier.ts';
import { DEFAULT_PROVIDER } from '../user.ts';
import type { UsersConfig } from '../users-config.ts';
import { permissionDenied, UsersError } from '../users-error.ts';

/** The caller with what the rules depend on, read at this request and never remembered from an earlier one. */
export interface Caller {
  readonly userId: string;
  readonly identityProviderId: string;
  readonly participantAdmin: boolean;
  /** Never true for a user of the default provider, where the right has no effect. */
  readonly identityProviderAdmin: boolean;
  /** The participant that the token is bound to; null where it is bound to none. */
  readonly participantId: string | null;
}

/** The query parameters; an absent one has its default. */
export interface Query {
  /** 0: as many as the settings allow. */
  readonly pageSize: number;
  /** Empty: from the start. */
  readonly pageToken: string;
  readonly identityProviderId: string;
}

/** What a rule gets: the users within the transaction, the caller, and the request, which is decoded and not checked yet. */
export interface Call<Store extends UsersReader, Body = unknown> {
  readonly users: Store;
  readonly caller: Caller;
  readonly config: UsersConfig;
  /** Of the path; empty where it has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
}

/**
 * The user that a verified token speaks for. Throws INVALID_TOKEN for a subject that is no user id, and the same
 * PERMISSION_DENIED for a user that is unknown, deactivated or of another identity provider (docs/rules.md, tokens).
 */
export function resolveCaller(users: UsersReader, token: VerifiedToken): Caller {
  const { userId, identityProviderId, participantId } = token;
  const fault = userIdFault(userId);
  if (fault !== null)
    throw new UsersError('INVALID_TOKEN', `The submitted request is missing a user-id: token ${fault}`, {
      raisedBy: 'token',
    });
  const record = users.caller(userId);
  if (record === null) throw permissionDenied(`the token's user is unknown`, 'token');
  if (record.identityProviderId !== identityProviderId)
    throw permissionDenied(`the token's user belongs to another identity provider`, 'token');
  if (record.isDeactivated) throw permissionDenied(`the token's user is deactivated`, 'token');
  return {
    userId,
    identityProviderId,
    participantAdmin: record.participantAdmin,
    identityProviderAdmin: record.identityProviderAdmin && identityProviderId !== DEFAULT_PROVIDER,
    participantId,
  };
}

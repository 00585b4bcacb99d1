import type { VerifiedToken } from './token-verifier.ts';
import { DEFAULT_PROVIDER, type GivenRight, ledgerStringFault, needsParticipantAdmin, userIdFault } from './user.ts';
import type { UsersConfig } from './users-config.ts';
import { permissionDenied, UsersError } from './users-error.ts';
import type { UsersReader } from './users-store.ts';

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

/** Throws PERMISSION_DENIED unless the caller is a ParticipantAdmin. */
export function requireParticipantAdmin(caller: Caller): void {
  if (!caller.participantAdmin) throw permissionDenied('not a participant admin');
}

/** Throws PERMISSION_DENIED unless the caller administers users: everywhere, or in its own identity provider. */
export function requireUserAdmin(caller: Caller): void {
  if (!isUserAdmin(caller)) throw permissionDenied('neither a participant admin nor an identity provider admin');
}

/** Whether the caller administers any users at all. */
export function isUserAdmin({ participantAdmin, identityProviderAdmin }: Caller): boolean {
  return participantAdmin || identityProviderAdmin;
}

/** As requireUserAdmin; some rights only a ParticipantAdmin may give or take (docs/rules.md, callers). */
export function requireAdminFor(caller: Caller, rights: readonly GivenRight[]): void {
  if (rights.some(needsParticipantAdmin)) requireParticipantAdmin(caller);
  else requireUserAdmin(caller);
}

/**
 * The identity provider that a request concerns (docs/rules.md, callers). Left empty it is the caller's own, except for a
 * ParticipantAdmin, for whom it is the default one. Throws PERMISSION_DENIED where the caller belongs to another provider,
 * INVALID_TOKEN where it is no id.
 */
export function effectiveProvider(caller: Caller, requested: string): string {
  if (requested === '' && !caller.participantAdmin) return caller.identityProviderId;
  const fault = requested === '' ? null : ledgerStringFault(requested);
  if (fault !== null)
    throw new UsersError(
      'INVALID_TOKEN',
      `The submitted token has a field with invalid value: Invalid field identity_provider_id: ${fault}`,
      { raisedBy: 'authorizer' },
    );
  if (caller.identityProviderId !== DEFAULT_PROVIDER && caller.identityProviderId !== requested)
    throw permissionDenied('the request is about another identity provider than the token');
  return requested;
}

/** Throws PERMISSION_DENIED where the token was made for another participant. */
export function requireParticipant(caller: Caller, participantId: string): void {
  if (!isForParticipant(caller, participantId)) throw permissionDenied('the token is for another participant');
}

export function isForParticipant(caller: Caller, participantId: string): boolean {
  return caller.participantId === null || caller.participantId === participantId;
}

import { ledgerStringFault } from '../formats.ts';
import { type GivenRight, needsParticipantAdmin } from '../right.ts';
import { DEFAULT_PROVIDER } from '../user.ts';
import { permissionDenied, UsersError } from '../users-error.ts';
import type { Caller } from './caller.ts';

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

/** As requireUserAdmin, but every user may read its own record. */
export function requireSelfOrUserAdmin(caller: Caller, userId: string): void {
  if (caller.userId !== userId) requireUserAdmin(caller);
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

import { userIdFault } from '../../users/id-formats.ts';
import { invalidArgument } from '../../users/users-error.ts';

/** Throws INVALID_ARGUMENT for a malformed user id in a path; only where no body has the id too. */
export function checkPathUserId({ id }: { readonly id: string }): void {
  const fault = userIdFault(id);
  if (fault !== null) throw invalidArgument(`Malformed user-id: ${fault}`, 'json-layer');
}

/** Throws INVALID_ARGUMENT where the body names another user or provider than the path, or none (null). */
export function checkSameId(ids: { readonly path: string; readonly body: string | null }, what: 'user' | 'idp'): void {
  if (ids.body === ids.path) return;
  const shown = ids.body === null ? 'None' : `Some(${ids.body})`;
  throw invalidArgument(`${ids.path} does not match ${what} in body: ${shown} `, 'json-layer');
}

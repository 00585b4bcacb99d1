import type { UsersError } from './users-error.ts';

/** The paths that an update mask may have, dotted, in proto's snake_case; a parent comes before its children. */
export const USER_MASK_FIELDS = [
  'id',
  'primary_party',
  'is_deactivated',
  'metadata',
  'metadata.annotations',
  'metadata.resource_version',
  'identity_provider_id',
  'primary_party_authentication',
] as const;
export const PROVIDER_MASK_FIELDS = [
  'identity_provider_id',
  'is_deactivated',
  'jwks_url',
  'issuer',
  'audience',
] as const;

/** The path that `"."` parses to: every field. */
const ROOT = '';

export interface UpdateMask<Field extends string> {
  /** Whether it has the field's own path or a parent's. */
  names(field: Field): boolean;
  /** The value that the field gets: its own path writes even a default value, a parent's only other values. */
  choose<Value extends string | boolean>(field: Field, given: Value, stored: Value): Value;
}

/** Reads an update mask; throws the error of `refused` for its first fault (docs/rules.md, users). */
export function parseMask<Field extends string>(
  paths: readonly string[],
  fields: readonly Field[],
  refused: (fault: string) => UsersError,
): UpdateMask<Field> {
  if (paths.length === 0) throw refused('The update mask contains no entries');
  const known = new Set<string>([ROOT, ...fields]);
  const mentioned = new Set<string>();
  for (const path of paths) {
    const canonical = dropEmptyEnd(path);
    if (path === '' || !known.has(canonical)) throw refused(`The update path: '${path}' points to an unknown field.`);
    if (mentioned.has(canonical)) throw refused(`The update path: '${path}' is duplicated.`);
    mentioned.add(canonical);
  }
  const names = (field: Field): boolean =>
    mentioned.has(field) || mentioned.has(ROOT) || mentioned.has(field.slice(0, Math.max(field.lastIndexOf('.'), 0)));
  return {
    names,
    choose: (field, given, stored) => {
      const isDefault = given === '' || given === false;
      return mentioned.has(field) || (names(field) && !isDefault) ? given : stored;
    },
  };
}

/** Splits a path as the reference does: empty pieces at the end do not count, so `metadata.` is `metadata`. */
function dropEmptyEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === '.') end -= 1;
  return path.slice(0, end);
}

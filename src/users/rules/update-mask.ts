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

/** How a mask names a field: by its own path, by a parent's, or not at all. */
export type Mention = 'exact' | 'parent' | 'none';

export interface UpdateMask<Field extends string> {
  mention(field: Field): Mention;
}

/** Reads an update mask; returns the fault as a message where there is one (docs/rules.md, users). */
export function parseMask<Field extends string>(
  paths: readonly string[],
  fields: readonly Field[],
): { readonly fault: string } | { readonly mask: UpdateMask<Field> } {
  if (paths.length === 0) return { fault: 'The update mask contains no entries' };
  const known = new Set<string>([ROOT, ...fields]);
  const mentioned = new Set<string>();
  for (const path of paths) {
    const canonical = path === '' ? null : dropEmptyEnd(path);
    if (canonical === null || !known.has(canonical))
      return { fault: `The update path: '${path}' points to an unknown field.` };
    if (mentioned.has(canonical)) return { fault: `The update path: '${path}' is duplicated.` };
    mentioned.add(canonical);
  }
  return { mask: { mention: (field) => mentionOf(field, mentioned) } };
}

/** Splits a path as the reference does: empty pieces at the end do not count, so `metadata.` is `metadata`. */
function dropEmptyEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === '.') end -= 1;
  return path.slice(0, end);
}

function mentionOf(field: string, mentioned: ReadonlySet<string>): Mention {
  if (mentioned.has(field)) return 'exact';
  const parent = field.slice(0, Math.max(field.lastIndexOf('.'), 0));
  return mentioned.has(parent) || mentioned.has(ROOT) ? 'parent' : 'none';
}

/** The value that a field gets: an exact path writes even a default value, a parent path only other values. */
export function masked<Value extends string | boolean>(
  mention: Mention,
  { given, stored }: { given: Value; stored: Value },
): Value {
  const isDefault = given === '' || given === false;
  return mention === 'none' || (mention === 'parent' && isDefault) ? stored : given;
}

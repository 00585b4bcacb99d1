import { invalidArgument } from './users-error.ts';

/** Annotations of a request; a Map, so that no key can be taken for a property of an object. */
export type Annotations = ReadonlyMap<string, string>;

/** 256 KiB of UTF-8, keys and values together, inclusive (docs/rules.md, fields). */
export const ANNOTATIONS_BYTES_MAX = 262_144;

const NAME_CHARS_MAX = 63;
const PREFIX_CHARS_MAX = 253;
const SHOWN_CHARS_MAX = 53;
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const LABEL = /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/;

/** Throws INVALID_ARGUMENT for the first fault: the total size, then the keys, then (at creation) empty values. */
export function checkAnnotations(annotations: Annotations, emptyValues: 'forbidden' | 'delete'): void {
  if (annotationBytes(annotations) > ANNOTATIONS_BYTES_MAX)
    throw invalidArgument("annotations from field 'user.metadata.annotations' are larger than the limit of 256kb");
  for (const key of annotations.keys()) checkKey(key);
  if (emptyValues === 'delete') return;
  for (const [key, value] of annotations)
    if (value === '') throw invalidArgument(`The value of an annotation is empty for key: '${key}'`);
}

/** UTF-8 bytes of the entries with a value: an empty value deletes its key and does not count. */
export function annotationBytes(annotations: Annotations): number {
  let bytes = 0;
  for (const [key, value] of annotations) if (value !== '') bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes;
}

function checkKey(key: string): void {
  const pieces = splitKey(key);
  if (pieces === null) throw invalidArgument(`Key '${key}' contains more than one forward slash ('/') character`);
  const { prefix, name } = pieces;
  if (prefix !== null)
    checkSegment(
      prefix,
      'prefix',
      PREFIX_CHARS_MAX,
      prefix.split('.').every((label) => LABEL.test(label)),
    );
  checkSegment(name, 'name', NAME_CHARS_MAX, NAME.test(name));
}

/** `[prefix/]name`, with empty pieces at the end dropped as the reference's split does: `a/` is the name `a`. */
function splitKey(key: string): { readonly prefix: string | null; readonly name: string } | null {
  if (key === '') return { prefix: null, name: '' };
  let end = key.length;
  while (key[end - 1] === '/') end -= 1;
  const pieces = key.slice(0, end).split('/');
  if (end === 0 || pieces.length > 2) return null;
  return pieces.length === 1 ? { prefix: null, name: pieces[0]! } : { prefix: pieces[0]!, name: pieces[1]! };
}

function checkSegment(segment: string, what: 'name' | 'prefix', charsMax: number, valid: boolean): void {
  const shown = segment.length > SHOWN_CHARS_MAX ? `${segment.slice(0, SHOWN_CHARS_MAX - 3)}...` : segment;
  if (segment.length > charsMax)
    throw invalidArgument(`Key ${what} segment '${shown}' exceeds maximum length of ${charsMax} characters`);
  if (!valid) throw invalidArgument(`Key ${what} segment '${shown}' has invalid syntax`);
}

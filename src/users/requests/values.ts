import { z } from 'zod';
import { isObject } from '../../json/untrusted.ts';
import type { Annotations } from '../annotations.ts';
import { type GivenRight, isPartyKind, PARTY_KINDS, PLAIN_KINDS } from '../right.ts';

/**
 * Values of request bodies (docs/rules.md, bodies): what is missing has its type's default, `null` is invalid for strings,
 * booleans, lists and maps, and unknown properties are ignored.
 */
export const text = () => z.string().refine(isText, 'not well-formed Unicode');
export const optionalText = (description: string) => text().default('').meta({ description });
export const optionalFlag = (description: string) => z.boolean().default(false).meta({ description });

/** A message may be null, which is the same as missing. */
export function message<Shape extends z.ZodType>(schema: Shape) {
  return schema.nullish().transform((value) => value ?? null);
}

/** Strings by key, as a Map: in an object a key such as `__proto__` would be a property. */
export const annotations = z
  .unknown()
  .optional()
  .transform((value, context): Annotations => {
    const decoded = value === undefined ? new Map<string, string>() : decodeTexts(value);
    if (decoded !== null) return decoded;
    context.addIssue({ code: 'custom', message: 'expected an object whose values are texts' });
    return z.NEVER;
  })
  .meta({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'At most 262144 bytes of UTF-8, keys and values together. On update an empty value removes its key.',
  });

function decodeTexts(value: unknown): Annotations | null {
  if (!isObject(value)) return null;
  const texts = new Map<string, string>();
  for (const key of Object.keys(value)) {
    const text = value[key];
    if (!isText(key) || !isText(text)) return null;
    texts.set(key, text);
  }
  return texts;
}

const KIND_NAMES = [...PARTY_KINDS, ...PLAIN_KINDS, 'Empty' as const].sort();

/** One by one, not by a schema of lists: so decoding a long list takes no longer than parsing its JSON. */
export const rights = z
  .unknown()
  .optional()
  .transform((value, context): readonly GivenRight[] => {
    if (value === undefined) return [];
    const decoded = Array.isArray(value) ? value.map(decodeRight) : [null];
    if (decoded.every((right) => right !== null)) return decoded;
    context.addIssue({ code: 'custom', message: 'expected a list of {"kind": {"<kind of right>": {"value": {...}}}}' });
    return z.NEVER;
  })
  .meta({ type: 'array', items: { $ref: '#/components/schemas/Right' } });

const NO_KIND: GivenRight = { kind: 'Empty', party: '' };

/** Of several kinds only the alphabetically first one counts; `{}` has no kind. */
function decodeRight(value: unknown): GivenRight | null {
  if (!isObject(value)) return null;
  const given = value.kind;
  if (given === undefined) return NO_KIND;
  if (!isObject(given)) return null;
  const kind = KIND_NAMES.find((name) => Object.hasOwn(given, name));
  const content = kind === undefined ? null : given[kind];
  if (kind === undefined || !isObject(content)) return null;
  if (kind === 'Empty') return NO_KIND;
  if (!isObject(content.value)) return null;
  if (!isPartyKind(kind)) return { kind, party: '' };
  const { party = '' } = content.value;
  return isText(party) ? { kind, party } : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** A right in the document. */
export const documentedRight = z
  .object({
    kind: z.union(
      KIND_NAMES.filter((name) => name !== 'Empty').map((name) => {
        const value = isPartyKind(name) ? z.object({ party: text().default('') }) : z.object({});
        return z.strictObject({ [name]: z.object({ value }) });
      }),
    ),
  })
  .meta({ id: 'Right' });

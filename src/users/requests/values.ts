import { z } from 'zod';
import type { Annotations } from '../annotations.ts';
import { type GivenRight, PARTY_KINDS, type PartyKind, PLAIN_KINDS, type PlainKind } from '../right.ts';

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

type KindValue = readonly [kind: GivenRight['kind'], value: z.ZodType<GivenRight>];

const KIND_VALUES: ReadonlyMap<GivenRight['kind'], z.ZodType<GivenRight>> = new Map([
  ...PARTY_KINDS.map(partyKind),
  ...PLAIN_KINDS.map(plainKind),
  ['Empty', z.object({}).transform(() => ({ kind: 'Empty', party: '' }) as const)] satisfies KindValue,
]);

function partyKind(kind: PartyKind): KindValue {
  const value = z.object({ value: z.object({ party: text().default('') }) });
  return [kind, value.transform(({ value: { party } }) => ({ kind, party }))];
}

function plainKind(kind: PlainKind): KindValue {
  return [kind, z.object({ value: z.object({}) }).transform(() => ({ kind, party: '' }))];
}
const KIND_NAMES = [...KIND_VALUES.keys()].sort();

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
  const name = KIND_NAMES.find((kind) => Object.hasOwn(given, kind));
  const parsed = name === undefined ? undefined : KIND_VALUES.get(name)!.safeParse(given[name]);
  return parsed?.success === true ? parsed.data : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** A right in the document, made from the schemas that read it. */
export const documentedRight = z
  .object({
    kind: z.union(
      KIND_NAMES.filter((name) => name !== 'Empty').map((name) => z.strictObject({ [name]: KIND_VALUES.get(name)! })),
    ),
  })
  .meta({ id: 'Right' });

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

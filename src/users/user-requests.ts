import { z } from 'zod';
import { isObject } from '../json/untrusted.ts';
import { type Annotations, type GivenRight, isPartyKind, PARTY_KINDS, PLAIN_KINDS } from './user.ts';

/**
 * Values of request bodies (docs/rules.md, bodies): what is missing has its type's default, `null` is invalid for strings,
 * booleans, lists and maps, and unknown properties are ignored.
 */
export const text = () => z.string().refine(isText, 'not well-formed Unicode');
const optionalText = (description: string) => text().default('').meta({ description });
const optionalFlag = (description: string) => z.boolean().default(false).meta({ description });

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

const providerId = () => optionalText('Id of the identity provider; empty for the default one.');

const metadata = z.object({
  resourceVersion: optionalText('Empty at creation. On update: the version that the change is based on, or empty.'),
  annotations,
});

const user = z
  .object({
    id: optionalText("1-128 letters, digits and @^$.!`-#+'~_|:()"),
    primaryParty: optionalText('A party id, or empty.'),
    isDeactivated: optionalFlag('A deactivated user is refused everything.'),
    metadata: message(metadata),
    identityProviderId: providerId(),
    primaryPartyAuthentication: optionalFlag('Stored and answered; nothing depends on it.'),
  })
  .transform(({ metadata, ...rest }) => ({
    ...rest,
    resourceVersion: metadata?.resourceVersion ?? '',
    annotations: metadata?.annotations ?? new Map<string, string>(),
  }));

/** A user in a request: decoded, not validated yet. Texts are empty where unset. */
export type GivenUser = Readonly<z.output<typeof user>>;
export const EMPTY_USER: GivenUser = user.parse({});

const provider = z
  .object({
    identityProviderId: optionalText('1-255 letters, digits and ._:-#/ and space'),
    isDeactivated: optionalFlag('Tokens of a deactivated provider are refused.'),
    issuer: optionalText('The `iss` of its tokens.'),
    jwksUrl: optionalText('A http or https URL of its key set.'),
    audience: optionalText('What `aud` of its tokens must contain, or empty.'),
  })
  .transform(({ identityProviderId, ...rest }) => ({ id: identityProviderId, ...rest }));

export type GivenProvider = Readonly<z.output<typeof provider>>;

const updateMask = message(
  z.object({ paths: z.array(text()).default([]) }).meta({ description: 'Fields to change, in snake_case.' }),
);

export const createUserRequest = z.object({ user: message(user), rights }).meta({ id: 'CreateUserRequest' });
export type CreateUserRequest = Readonly<z.output<typeof createUserRequest>>;

export const updateUserRequest = z
  .object({ user: message(user), updateMask })
  .transform(({ user, updateMask }) => ({ user, updatePaths: updateMask?.paths ?? null }))
  .meta({ id: 'UpdateUserRequest' });
export type UpdateUserRequest = Readonly<z.output<typeof updateUserRequest>>;

export const changeRightsRequest = z
  .object({ userId: optionalText('The user, as in the path.'), rights, identityProviderId: providerId() })
  .meta({ id: 'ChangeUserRightsRequest' });
export type ChangeRightsRequest = Readonly<z.output<typeof changeRightsRequest>>;

export const moveUserRequest = z
  .object({
    userId: optionalText('The user, as in the path.'),
    sourceIdentityProviderId: providerId(),
    targetIdentityProviderId: providerId(),
  })
  .meta({ id: 'UpdateUserIdentityProviderIdRequest' });
export type MoveUserRequest = Readonly<z.output<typeof moveUserRequest>>;

export const createProviderRequest = z
  .object({ identityProviderConfig: message(provider) })
  .transform(({ identityProviderConfig }) => identityProviderConfig)
  .meta({ id: 'CreateIdentityProviderConfigRequest' });

export const updateProviderRequest = z
  .object({ identityProviderConfig: message(provider), updateMask })
  .transform(({ identityProviderConfig, updateMask }) => ({
    provider: identityProviderConfig,
    updatePaths: updateMask?.paths ?? null,
  }))
  .meta({ id: 'UpdateIdentityProviderConfigRequest' });
export type UpdateProviderRequest = Readonly<z.output<typeof updateProviderRequest>>;

import { invalidArgument } from './users-error.ts';

/** A user id in full: 1-128 characters (docs/rules.md, fields). */
export const USER_ID_PATTERN = /^[a-zA-Z0-9@^$.!`\-#+'~_|:()]{1,128}$/;
/** The pattern in messages, as the reference writes it. */
const USER_ID_REGEX_SHOWN = "[a-zA-Z0-9@^$.!`\\-#+'~_\\|:\\(\\)]{1,128}";

const NOT_IN_PARTY = /[^A-Za-z0-9:\-_ ]/u;
const NOT_IN_LEDGER_STRING = /[^A-Za-z0-9._:\-#/ ]/u;
const CHARS_MAX = 255;
const INT64_PATTERN = /^[+-]?\d{1,40}$/;

/** The first fault of a user id as a message, or null. */
export function userIdFault(id: string): string | null {
  return USER_ID_PATTERN.test(id) ? null : `User ID "${id}" does not match regex "${USER_ID_REGEX_SHOWN}"`;
}

/** The first fault of a party id, or null. Unlike holdings' party ids these need no fingerprint: "party1" is fine, and existence is never checked. */
export function partyFault(party: string): string | null {
  return textFault(party, NOT_IN_PARTY, 'Daml-LF Party');
}

/** The first fault of an identity provider id, or null; the empty text is the default provider and not checked here. */
export function ledgerStringFault(text: string): string | null {
  return textFault(text, NOT_IN_LEDGER_STRING, 'Daml-LF Ledger String');
}

function textFault(text: string, other: RegExp, what: string): string | null {
  if (text === '') return `${what} is empty`;
  if (text.length > CHARS_MAX) return `${what} is too long (max: ${CHARS_MAX})`;
  const found = other.exec(text)?.[0].codePointAt(0);
  return found === undefined ? null : `non expected character 0x${found.toString(16)} in ${what} "${text}"`;
}

/** A signed 64-bit integer as Java's Long.parseLong reads it (`+1` and leading zeros are allowed), else null. */
export function parseJavaLong(text: string): bigint | null {
  if (!INT64_PATTERN.test(text)) return null;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** Whether a URL has a user or a password in it, which is not supported. */
export function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

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

/** The kinds that name a party, and those that do not (docs/rules.md, fields). */
export const PARTY_KINDS = ['CanActAs', 'CanReadAs', 'CanExecuteAs'] as const;
export const PLAIN_KINDS = [
  'ParticipantAdmin',
  'IdentityProviderAdmin',
  'CanReadAsAnyParty',
  'CanExecuteAsAnyParty',
  'CanActAsAnyParty',
] as const;

type PartyKind = (typeof PARTY_KINDS)[number];
export type PlainKind = (typeof PLAIN_KINDS)[number];

/** A right of a user. `party` is empty for the kinds that name none. */
export interface Right {
  readonly kind: PartyKind | PlainKind;
  readonly party: string;
}

/** A right as a request may give it: of no kind at all, which only the service refuses, in its own order. */
export type GivenRight = Right | { readonly kind: 'Empty'; readonly party: '' };

const PARTICIPANT_ADMIN_ONLY: ReadonlySet<string> = new Set<PlainKind>([
  'ParticipantAdmin',
  'CanReadAsAnyParty',
  'CanExecuteAsAnyParty',
  'CanActAsAnyParty',
]);

/** Whether only a ParticipantAdmin may grant or revoke this kind. */
export function needsParticipantAdmin(right: GivenRight): boolean {
  return PARTICIPANT_ADMIN_ONLY.has(right.kind);
}

export function isPartyKind(kind: GivenRight['kind']): kind is PartyKind {
  return (PARTY_KINDS as readonly string[]).includes(kind);
}

/** Rights are a set by kind and party; the order of first appearance is kept. */
export function distinctRights(rights: readonly Right[]): readonly Right[] {
  return [...new Map(rights.map((right) => [rightKey(right), right])).values()];
}

/** Two rights are the same where their keys are. */
export function rightKey({ kind, party }: Right): string {
  return `${kind} ${party}`;
}

/** The identity provider of users without another one. */
export const DEFAULT_PROVIDER = '';

/** A user of the ledger as it is stored (docs/rules.md, users). */
export interface User {
  readonly id: string;
  /** Empty where unset. */
  readonly primaryParty: string;
  readonly isDeactivated: boolean;
  readonly primaryPartyAuthentication: boolean;
  /** DEFAULT_PROVIDER, or the id of an identity provider. */
  readonly identityProviderId: string;
  /** 0 at creation, one more with each update. */
  readonly resourceVersion: bigint;
  readonly annotations: Annotations;
}

/** Where the tokens of a set of users come from (docs/rules.md, users). */
export interface IdentityProvider {
  readonly id: string;
  readonly isDeactivated: boolean;
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Empty where unset. */
  readonly audience: string;
}

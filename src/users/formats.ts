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

/**
 * The first fault of a party id, or null. Unlike holdings' party ids these need no fingerprint: "party1" is fine, and
 * existence is never checked.
 */
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

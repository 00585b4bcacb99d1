/**
 * Validates JSON as bytes, without creating objects or strings. Every function takes a position and returns the one after
 * what it read, or -1 for what is no JSON or is nested too deep. Whether the bytes are UTF-8 is not checked here.
 */
const DEPTH_MAX = 64;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
export const BRACKET = 0x5b;
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
export const BRACE_END = 0x7d;
const [SPACE, TAB, LINE_FEED, RETURN, BACKSLASH] = [0x20, 0x09, 0x0a, 0x0d, 0x5c];
const [MINUS, PLUS, POINT, DIGIT_ZERO, SMALL_E, LARGE_E] = [0x2d, 0x2b, 0x2e, 0x30, 0x65, 0x45];

/** 1 for the bytes that need no escape within a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** How many characters an escape has after its backslash, by the first of them; 0 for a character that is no escape. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return character === 'u' ? 5 : '"\\/bfnrt'.includes(character) ? 1 : 0;
});
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0));

export const TRUE = bytesOf('true');
export const FALSE = bytesOf('false');
export const NULL = bytesOf('null');

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Whether the bytes at `at` are these. */
export function standsAt(b: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (b[at + i] !== expected[i]) return false;
  return true;
}

/** After white space; usually there is none. */
export function spaceEnd(b: Uint8Array, at: number): number {
  let p = at;
  while (b[p]! <= SPACE && (b[p] === SPACE || b[p] === LINE_FEED || b[p] === RETURN || b[p] === TAB)) p++;
  return p;
}

/** After a key's colon and white space: where its value starts. */
export function valueStart(b: Uint8Array, keyEnd: number): number {
  const colon = spaceEnd(b, keyEnd);
  return b[colon] === COLON ? spaceEnd(b, colon + 1) : -1;
}

/** After a value of any kind; accepts exactly what JSON.parse does. */
export function valueEnd(b: Uint8Array, at: number, depth = DEPTH_MAX): number {
  switch (b[at]) {
    case QUOTE:
      return stringEnd(b, at);
    case BRACE:
      return depth === 0 ? -1 : objectEnd(b, at, depth - 1);
    case BRACKET:
      return depth === 0 ? -1 : listEnd(b, at, depth - 1);
    case TRUE[0]:
      return standsAt(b, at, TRUE) ? at + TRUE.length : -1;
    case FALSE[0]:
      return standsAt(b, at, FALSE) ? at + FALSE.length : -1;
    case NULL[0]:
      return standsAt(b, at, NULL) ? at + NULL.length : -1;
    default:
      return numberEnd(b, at);
  }
}

/** After a string without escapes, whose bytes are its text; -1 for any other. */
export function plainStringEnd(b: Uint8Array, at: number): number {
  if (b[at] !== QUOTE) return -1;
  let p = at + 1;
  while (PLAIN[b[p]!] === 1) p++;
  return b[p] === QUOTE ? p + 1 : -1;
}

function stringEnd(b: Uint8Array, at: number): number {
  let p = at + 1;
  for (;;) {
    while (PLAIN[b[p]!] === 1) p++;
    if (b[p] === QUOTE) return p + 1;
    if (b[p] !== BACKSLASH) return -1;
    const escaped = ESCAPED[b[p + 1]!] ?? 0;
    if (escaped === 0) return -1;
    for (let i = p + 2; i < p + 1 + escaped; i++) if (HEX[b[i]!] !== 1) return -1;
    p += 1 + escaped;
  }
}

function objectEnd(b: Uint8Array, at: number, depth: number): number {
  let p = spaceEnd(b, at + 1);
  if (b[p] === BRACE_END) return p + 1;
  for (;;) {
    if (b[p] !== QUOTE) return -1;
    p = stringEnd(b, p);
    if (p < 0) return -1;
    p = valueStart(b, p);
    if (p < 0) return -1;
    p = valueEnd(b, p, depth);
    if (p < 0) return -1;
    p = spaceEnd(b, p);
    if (b[p] === BRACE_END) return p + 1;
    if (b[p] !== COMMA) return -1;
    p = spaceEnd(b, p + 1);
  }
}

function listEnd(b: Uint8Array, at: number, depth: number): number {
  let p = spaceEnd(b, at + 1);
  if (b[p] === BRACKET_END) return p + 1;
  for (;;) {
    p = valueEnd(b, p, depth);
    if (p < 0) return -1;
    p = spaceEnd(b, p);
    if (b[p] === BRACKET_END) return p + 1;
    if (b[p] !== COMMA) return -1;
    p = spaceEnd(b, p + 1);
  }
}

function numberEnd(b: Uint8Array, at: number): number {
  let p = b[at] === MINUS ? at + 1 : at;
  if (!isDigit(b[p])) return -1;
  p = b[p] === DIGIT_ZERO ? p + 1 : digitsEnd(b, p);
  if (b[p] === POINT) {
    if (!isDigit(b[p + 1])) return -1;
    p = digitsEnd(b, p + 1);
  }
  if (b[p] !== SMALL_E && b[p] !== LARGE_E) return p;
  p++;
  if (b[p] === PLUS || b[p] === MINUS) p++;
  return isDigit(b[p]) ? digitsEnd(b, p) : -1;
}

function digitsEnd(b: Uint8Array, at: number): number {
  let p = at;
  while (isDigit(b[p])) p++;
  return p;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= DIGIT_ZERO && byte <= DIGIT_ZERO + 9;
}

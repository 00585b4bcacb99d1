/**
 * JSON read where it lies, as bytes, without an object or a text made of it. Every function takes a position and gives the one
 * behind what it read, or -1 for what it does not read: what is no JSON, and what is but unusual (escapes, characters
 * beyond ASCII, deep nesting). Whoever gets -1 reads the message in the general way.
 */
const DEPTH_MAX = 64;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BRACKET = 0x5b;
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
export const BRACE_END = 0x7d;
export const DIGIT_ZERO = 0x30;
const [SPACE, TAB, LINE_FEED, RETURN, BACKSLASH] = [0x20, 0x09, 0x0a, 0x0d, 0x5c];
const [MINUS, PLUS, POINT] = [0x2d, 0x2b, 0x2e];

/** 1 for the bytes that mean themselves within a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= SPACE && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** How many characters follow a backslash, by the first of them; 0 for none that may. */
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

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= DIGIT_ZERO && byte <= DIGIT_ZERO + 9;
}

/** Whether these bytes stand there. */
export function standsAt(b: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (b[at + i] !== expected[i]) return false;
  return true;
}

/** The position behind white space; mostly there is none. */
export function spaceEnd(b: Uint8Array, at: number): number {
  let p = at;
  while (b[p]! <= SPACE && (b[p] === SPACE || b[p] === LINE_FEED || b[p] === RETURN || b[p] === TAB)) p++;
  return p;
}

/** From behind the opening quote to the closing one. */
export function stringEnd(b: Uint8Array, at: number): number {
  let p = at;
  while (PLAIN[b[p]!] === 1) p++;
  return b[p] === QUOTE ? p : -1;
}

/** Reads a string that is not empty: the position behind it. Its start and end, without the quotes, go to `spans` at `at`. */
export function textSpan(b: Uint8Array, start: number, spans: Int32Array, at: number): number {
  if (b[start] !== QUOTE) return -1;
  const end = stringEnd(b, start + 1);
  if (end <= start + 1) return -1;
  spans[at] = start + 1;
  spans[at + 1] = end;
  return end + 1;
}

/** Behind the key whose opening quote is at `at`, its colon and white space: where its value starts. `keyEnd` is the closing quote. */
export function valueStart(b: Uint8Array, keyEnd: number): number {
  const colon = spaceEnd(b, keyEnd + 1);
  return b[colon] === COLON ? spaceEnd(b, colon + 1) : -1;
}

/** Behind a value of any kind, its grammar judged as JSON.parse does. */
export function valueEnd(b: Uint8Array, at: number, depth = DEPTH_MAX): number {
  switch (b[at]) {
    case QUOTE:
      return textEnd(b, at + 1);
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

/** Behind a string that may hold escapes, from behind its opening quote. */
function textEnd(b: Uint8Array, at: number): number {
  let p = at;
  for (;;) {
    while (PLAIN[b[p]!] === 1) p++;
    if (b[p] === QUOTE) return p + 1;
    if (b[p] !== BACKSLASH) return -1;
    const escaped = ESCAPED[b[p + 1]!];
    if (escaped === undefined || escaped === 0) return -1;
    for (let i = p + 2; i < p + 1 + escaped; i++) if (HEX[b[i]!] !== 1) return -1;
    p += 1 + escaped;
  }
}

function objectEnd(b: Uint8Array, at: number, depth: number): number {
  let p = spaceEnd(b, at + 1);
  if (b[p] === BRACE_END) return p + 1;
  for (;;) {
    if (b[p] !== QUOTE) return -1;
    p = stringEnd(b, p + 1);
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
  if (b[p] === DIGIT_ZERO) p++;
  else p = digitsEnd(b, p);
  if (b[p] === POINT) {
    if (!isDigit(b[p + 1])) return -1;
    p = digitsEnd(b, p + 1);
  }
  if (b[p] !== 0x65 && b[p] !== 0x45) return p;
  p++;
  if (b[p] === PLUS || b[p] === MINUS) p++;
  return isDigit(b[p]) ? digitsEnd(b, p) : -1;
}

function digitsEnd(b: Uint8Array, at: number): number {
  let p = at;
  while (isDigit(b[p])) p++;
  return p;
}

/** Reads the keys of one object's members, of which a few are known: they are found by their length and two of their characters. */
export class Keys {
  readonly #keys: readonly Uint8Array[];
  /** Number of the key + 1 by its mark; 0 for none. */
  readonly #byMark = new Uint8Array(256);
  /** The number of the key read last; -1 for one that is not known. */
  found = -1;
  /** A bit for each known key that the object had so far. */
  seen = 0;

  constructor(names: readonly string[]) {
    this.#keys = names.map(bytesOf);
    this.#keys.forEach((key, number) => {
      const mark = markOf(key, 0, key.length);
      if (this.#byMark[mark] !== 0) throw new Error(`two keys of one mark: ${names[number]}`);
      this.#byMark[mark] = number + 1;
    });
  }

  /** Reads the key of the member at `at`: where its value starts, or -1, also for a known key that stood there before. */
  read(b: Uint8Array, at: number): number {
    const start = spaceEnd(b, at) + 1;
    if (b[start - 1] !== QUOTE) return -1;
    const end = stringEnd(b, start);
    if (end < 0) return -1;
    this.found = this.#find(b, start, end);
    if (this.found >= 0) {
      if ((this.seen & (1 << this.found)) !== 0) return -1;
      this.seen |= 1 << this.found;
    }
    return valueStart(b, end);
  }

  #find(b: Uint8Array, start: number, end: number): number {
    const number = this.#byMark[markOf(b, start, end)]! - 1;
    if (number < 0) return -1;
    const key = this.#keys[number]!;
    return key.length === end - start && standsAt(b, start, key) ? number : -1;
  }
}

function markOf(b: Uint8Array, start: number, end: number): number {
  return ((end - start) * 37 + b[start]! * 5 + b[end - 1]! * 11) & 255;
}

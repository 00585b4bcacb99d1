/**
 * Validates JSON as bytes, without creating objects or strings: one message at a time, copied to a buffer of its own. Every
 * function takes a position there and returns the one after what it read, or -1 for what is no JSON or is nested too deep.
 * Whether the bytes are UTF-8 is not checked here.
 */
const DEPTH_MAX = 64;
/** Larger messages are rare, and are parsed in full. */
const MESSAGE_BYTES_MAX = 2 ** 20;
export const WORD_BYTES = 4;
/** A word may be read beyond the end, where the bytes do not matter, because a zero byte comes before them. */
const SLACK_BYTES = 64;

/** The message and a zero byte, at which every function stops. */
export const BYTES: Buffer = Buffer.from(new ArrayBuffer(MESSAGE_BYTES_MAX + SLACK_BYTES));
const VIEW = new DataView(BYTES.buffer);

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BRACKET = 0x5b;
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
export const BRACE_END = 0x7d;
const [SPACE, TAB, LINE_FEED, RETURN, BACKSLASH] = [0x20, 0x09, 0x0a, 0x0d, 0x5c];
const [MINUS, PLUS, POINT, DIGIT_ZERO, SMALL_E, LARGE_E] = [0x2d, 0x2b, 0x2e, 0x30, 0x65, 0x45];
const [SMALL_T, SMALL_F, SMALL_N] = [0x74, 0x66, 0x6e];
const [EACH_BYTE, HIGH_BITS] = [0x01010101, 0x80808080];

/** How many characters an escape has after its backslash, by the first of them; 0 for a character that is no escape. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return character === 'u' ? 5 : '"\\/bfnrt'.includes(character) ? 1 : 0;
});
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** A text of four bytes or more to compare with, in words of four bytes; the last one may overlap the one before. */
export interface Piece {
  readonly length: number;
  readonly words: Int32Array;
}

export const TRUE: Piece = pieceOf('true');
export const FALSE: Piece = pieceOf('false');
export const NULL: Piece = pieceOf('null');

export function pieceOf(text: string): Piece {
  const bytes = Buffer.from(text);
  const words = Int32Array.from({ length: Math.ceil(bytes.length / WORD_BYTES) }, (_, word) =>
    bytes.readInt32LE(Math.min(word * WORD_BYTES, bytes.length - WORD_BYTES)),
  );
  return { length: bytes.length, words };
}

/** Whether the message has an escape anywhere. */
export let hasEscapes = false;
let loaded: Uint8Array | null = null;

/** Copies the next message. False for one that is too large. */
export function load(bytes: Uint8Array): boolean {
  if (bytes.length > MESSAGE_BYTES_MAX) return false;
  BYTES.set(bytes);
  BYTES[bytes.length] = 0;
  hasEscapes = bytes.includes(BACKSLASH!);
  loaded = bytes;
  return true;
}

/** Whether these bytes were copied last. */
export function isLoaded(bytes: Uint8Array): boolean {
  return loaded === bytes;
}

/** The four bytes at `at`. */
export function wordAt(at: number): number {
  return VIEW.getInt32(at, true);
}

/** Whether the bytes at `at` are this text. */
export function standsAt(at: number, { length, words }: Piece): boolean {
  const last = words.length - 1;
  for (let i = 0; i < last; i++) if (wordAt(at + i * WORD_BYTES) !== words[i]) return false;
  return wordAt(at + length - WORD_BYTES) === words[last];
}

/** Whether the bytes at two positions are the same. */
export function isSame(a: number, b: number, length: number): boolean {
  let i = length;
  // From the end, because ids of one update differ in their last characters.
  while (i >= WORD_BYTES) {
    i -= WORD_BYTES;
    if (wordAt(a + i) !== wordAt(b + i)) return false;
  }
  while (i > 0) {
    i--;
    if (BYTES[a + i] !== BYTES[b + i]) return false;
  }
  return true;
}

/** After white space; usually there is none. */
export function spaceEnd(at: number): number {
  let p = at;
  while (
    BYTES[p]! <= SPACE &&
    (BYTES[p] === SPACE || BYTES[p] === LINE_FEED || BYTES[p] === RETURN || BYTES[p] === TAB)
  )
    p++;
  return p;
}

/** The first key of the object at `at`, or its closing brace. */
export function firstKey(at: number): number {
  if (BYTES[at] !== BRACE) return -1;
  const p = spaceEnd(at + 1);
  return BYTES[p] === QUOTE || BYTES[p] === BRACE_END ? p : -1;
}

/** The next key after a value, or the closing brace of its object. */
export function nextKey(at: number): number {
  const p = spaceEnd(at);
  if (BYTES[p] === BRACE_END) return p;
  if (BYTES[p] !== COMMA) return -1;
  const key = spaceEnd(p + 1);
  return BYTES[key] === QUOTE ? key : -1;
}

/** After a key's colon and white space: where its value starts. */
export function valueStart(keyEnd: number): number {
  const colon = spaceEnd(keyEnd);
  return BYTES[colon] === COLON ? spaceEnd(colon + 1) : -1;
}

/** After a value of any kind; accepts exactly what JSON.parse does. */
export function valueEnd(at: number, depth = DEPTH_MAX): number {
  switch (BYTES[at]) {
    case QUOTE:
      return stringEnd(at);
    case BRACE:
      return depth === 0 ? -1 : objectEnd(at, depth - 1);
    case BRACKET:
      return depth === 0 ? -1 : listEnd(at, depth - 1);
    case SMALL_T:
      return standsAt(at, TRUE) ? at + TRUE.length : -1;
    case SMALL_F:
      return standsAt(at, FALSE) ? at + FALSE.length : -1;
    case SMALL_N:
      return standsAt(at, NULL) ? at + NULL.length : -1;
    default:
      return numberEnd(at);
  }
}

/** After a string without escapes, whose bytes are its text; -1 for any other. */
export function plainStringEnd(at: number): number {
  if (BYTES[at] !== QUOTE) return -1;
  const p = plainEnd(at + 1);
  return BYTES[p] === QUOTE ? p + 1 : -1;
}

/** The first byte that ends a string or needs an escape within it: a quote, a backslash or a control character. */
function plainEnd(at: number): number {
  let p = at;
  for (;;) {
    const word = VIEW.getInt32(p, true);
    // Four bytes at once. The bytes before the first such byte borrow nothing, so the lowest bit that is set is that byte's.
    const found =
      ((word - SPACE * EACH_BYTE) |
        ((word ^ (QUOTE * EACH_BYTE)) - EACH_BYTE) |
        ((word ^ (BACKSLASH * EACH_BYTE)) - EACH_BYTE)) &
      ~word &
      HIGH_BITS;
    if (found !== 0) return p + ((31 - Math.clz32(found & -found)) >> 3);
    p += WORD_BYTES;
  }
}

function stringEnd(at: number): number {
  let p = at + 1;
  for (;;) {
    p = plainEnd(p);
    if (BYTES[p] === QUOTE) return p + 1;
    if (BYTES[p] !== BACKSLASH) return -1;
    const escaped = ESCAPED[BYTES[p + 1]!]!;
    if (escaped === 0) return -1;
    for (let i = p + 2; i < p + 1 + escaped; i++) if (HEX[BYTES[i]!] !== 1) return -1;
    p += 1 + escaped;
  }
}

function objectEnd(at: number, depth: number): number {
  let p = firstKey(at);
  while (p >= 0 && BYTES[p] === QUOTE) {
    const keyEnd = stringEnd(p);
    const start = keyEnd < 0 ? -1 : valueStart(keyEnd);
    const end = start < 0 ? -1 : valueEnd(start, depth);
    p = end < 0 ? -1 : nextKey(end);
  }
  return p < 0 ? -1 : p + 1;
}

function listEnd(at: number, depth: number): number {
  let p = spaceEnd(at + 1);
  if (BYTES[p] === BRACKET_END) return p + 1;
  for (;;) {
    p = valueEnd(p, depth);
    if (p < 0) return -1;
    p = spaceEnd(p);
    if (BYTES[p] === BRACKET_END) return p + 1;
    if (BYTES[p] !== COMMA) return -1;
    p = spaceEnd(p + 1);
  }
}

function numberEnd(at: number): number {
  let p = BYTES[at] === MINUS ? at + 1 : at;
  if (!isDigit(BYTES[p])) return -1;
  p = BYTES[p] === DIGIT_ZERO ? p + 1 : digitsEnd(p);
  if (BYTES[p] === POINT) {
    if (!isDigit(BYTES[p + 1])) return -1;
    p = digitsEnd(p + 1);
  }
  if (BYTES[p] !== SMALL_E && BYTES[p] !== LARGE_E) return p;
  p++;
  if (BYTES[p] === PLUS || BYTES[p] === MINUS) p++;
  return isDigit(BYTES[p]) ? digitsEnd(p) : -1;
}

function digitsEnd(at: number): number {
  let p = at;
  while (isDigit(BYTES[p])) p++;
  return p;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= DIGIT_ZERO && byte <= DIGIT_ZERO + 9;
}

import { BYTES } from './json-index.ts';

/** Compares and reads the bytes of the message in `BYTES`. */
export const WORD_BYTES = 4;
const VIEW = new DataView(BYTES.buffer, BYTES.byteOffset, BYTES.byteLength);

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BRACKET = 0x5b;
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d];

/** A text of four bytes or more to compare with, in words of four bytes; the last one may overlap the one before. */
export interface Piece {
  readonly length: number;
  readonly words: Int32Array;
}

export const FALSE: Piece = pieceOf('false');
export const NULL: Piece = pieceOf('null');

export function pieceOf(text: string): Piece {
  const bytes = Buffer.from(text);
  const words = Int32Array.from({ length: Math.ceil(bytes.length / WORD_BYTES) }, (_, word) =>
    bytes.readInt32LE(Math.min(word * WORD_BYTES, bytes.length - WORD_BYTES)),
  );
  return { length: bytes.length, words };
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

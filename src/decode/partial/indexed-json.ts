import { instanceOf } from '../../threads/shared-wasm.ts';
import { JSON_INDEX_WASM } from './json-index-wasm.ts';

/**
 * JSON as bytes, without creating objects or strings: one message at a time, copied to a memory of its own, in which WebAssembly
 * (wasm/json-index.ts) checks it and indexes the members of its outer objects. Whether the bytes are UTF-8 is not checked here.
 */
interface Compiled {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Addresses in the memory, and sizes. */
  readonly MESSAGE: { readonly value: number };
  readonly MESSAGE_BYTES_MAX: { readonly value: number };
  readonly INDEX: { readonly value: number };
  readonly MEMBERS_MAX: { readonly value: number };
  readonly MEMBER_WORDS: { readonly value: number };
  /**
   * Indexes the value at `start` of the message; returns where it ends. -1 for what is no JSON, is nested too deep, has an escape in
   * the key of a member that is indexed, or more of these than there is room for. Accepts nothing that JSON.parse does not.
   */
  index(start: number): number;
  /** How many members were indexed: those of the value, of its members that are objects, and of theirs, as they are written. */
  memberCount(): number;
  /** Where the string at `start` ends, its quotes included; -1 for one with an escape. */
  plainTextEnd(start: number): number;
}

const BACKSLASH = 0x5c;
/** Words may be read beyond the end, where the bytes do not matter, because a zero byte comes before them. */
const SLACK_BYTES = 64;

const wasm = instanceOf('json-index', JSON_INDEX_WASM) as Compiled;
const { buffer } = wasm.memory;
export const messageBytesMax = wasm.MESSAGE_BYTES_MAX.value;
const WORDS = wasm.MEMBER_WORDS.value;
const MEMBERS = new Int32Array(buffer, wasm.INDEX.value, wasm.MEMBERS_MAX.value * WORDS);

/** The message and a zero byte, at which every function stops. */
export const BYTES: Buffer = Buffer.from(buffer, wasm.MESSAGE.value, messageBytesMax + SLACK_BYTES);

/** Whether the message has an escape anywhere. */
export let hasEscapes = false;
let loaded: Uint8Array | null = null;

/** Copies the next message. False for one that is too large. */
export function load(bytes: Uint8Array): boolean {
  if (bytes.length > messageBytesMax) return false;
  BYTES.set(bytes);
  BYTES[bytes.length] = 0;
  hasEscapes = bytes.includes(BACKSLASH);
  loaded = bytes;
  return true;
}

/** Whether these bytes were copied last. */
export function isLoaded(bytes: Uint8Array): boolean {
  return loaded === bytes;
}

export const { index, memberCount, plainTextEnd } = wasm;

/** Where a member's key starts, after the quote. */
export function keyStart(member: number): number {
  return MEMBERS[member * WORDS]! + 1;
}

export function keyEnd(member: number): number {
  return MEMBERS[member * WORDS + 1]! - 1;
}

export function valueStart(member: number): number {
  return MEMBERS[member * WORDS + 2]!;
}

export function valueEnd(member: number): number {
  return MEMBERS[member * WORDS + 3]!;
}

/** The number after those of a member and of the members within it. */
export function memberEnd(member: number): number {
  return MEMBERS[member * WORDS + 4]!;
}

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

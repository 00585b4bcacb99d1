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
let hasEscapes = false;
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

const WORD_BYTES = 4;
const VIEW = new DataView(BYTES.buffer, BYTES.byteOffset, BYTES.byteLength);

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BRACKET = 0x5b;
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d];

/** A text of four bytes or more to compare with, in words of four bytes; the last one may overlap the one before. */
interface Piece {
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
function wordAt(at: number): number {
  return VIEW.getInt32(at, true);
}

/** Whether the bytes at `at` are this text. */
function standsAt(at: number, { length, words }: Piece): boolean {
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

/** Longer texts are not kept: a template id has about 100 bytes. */
const KNOWN_LENGTH_MAX = 128;

/**
 * Strings that a feed repeats (template ids, synchronizers), found by their bytes in the message. The same string object costs
 * less than a new one: it is hashed already, and equal by identity. Bounded, because a new text replaces the one in its slot.
 */
export class KnownTexts {
  readonly #mask: number;
  readonly #texts: string[];
  readonly #lengths: Uint8Array;
  /** The bytes of each slot's text. */
  readonly #words: Int32Array;

  /** `slots` is a power of two. */
  constructor(slots: number) {
    this.#mask = slots - 1;
    this.#texts = Array.from({ length: slots }, () => '');
    this.#lengths = new Uint8Array(slots);
    this.#words = new Int32Array((slots * KNOWN_LENGTH_MAX) / WORD_BYTES);
  }

  /** The text of the message from `start` to `end`. */
  of(start: number, end: number): string {
    const length = end - start;
    if (length < WORD_BYTES || length > KNOWN_LENGTH_MAX) return BYTES.toString('utf8', start, end);
    const slot = hashOf(start, end) & this.#mask;
    const words = (slot * KNOWN_LENGTH_MAX) / WORD_BYTES;
    if (this.#lengths[slot] === length && this.#areThere(words, start, end)) return this.#texts[slot]!;
    const text = BYTES.toString('utf8', start, end);
    this.#lengths[slot] = length;
    this.#texts[slot] = text;
    for (let p = start, i = words; p < end; p += WORD_BYTES, i++)
      this.#words[i] = wordAt(Math.min(p, end - WORD_BYTES));
    return text;
  }

  /** Compares word by word; the last word may overlap the one before. */
  #areThere(words: number, start: number, end: number): boolean {
    let i = words;
    for (let p = start; p < end - WORD_BYTES; p += WORD_BYTES) if (wordAt(p) !== this.#words[i++]) return false;
    return wordAt(end - WORD_BYTES) === this.#words[i];
  }
}

/** Of the length and three words, which differ between templates of one package and between packages of one template. */
function hashOf(start: number, end: number): number {
  let hash = Math.imul(wordAt(start) ^ (end - start), 0x9e3779b1);
  hash = Math.imul(hash ^ wordAt(start + ((end - start) >> 1) - WORD_BYTES / 2), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ wordAt(end - WORD_BYTES), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Keys are looked up by five bits of their length and of their first byte, before their bytes are compared. */
const SLOTS = 1024;

/** The members that objects of one kind have, by number, and the positions of their values in the object read last. */
export class Members {
  readonly #keys: readonly Piece[];
  /** The member's number by the slot of its key; -1 for none. */
  readonly #bySlot = new Int8Array(SLOTS).fill(-1);
  readonly #starts: Int32Array;
  /** 0 for one that was not there. */
  readonly #ends: Int32Array;

  constructor(names: readonly string[]) {
    this.#keys = names.map(pieceOf);
    this.#starts = new Int32Array(names.length);
    this.#ends = new Int32Array(names.length);
    for (const [number, key] of this.#keys.entries()) {
      const slot = slotOf(key.length, names[number]!.charCodeAt(0));
      if (this.#bySlot[slot] !== -1) throw new Error(`two keys in one slot: ${names[number]}`);
      this.#bySlot[slot] = number;
    }
  }

  /** Forgets the object read last. */
  clear(): void {
    for (let i = 0; i < this.#ends.length; i++) this.#ends[i] = 0;
  }

  /** Keeps where the values of an object's members are, which are indexed from `first` to `end`. False for a member twice. */
  read(first: number, end: number): boolean {
    this.clear();
    for (let i = first; i < end; i = memberEnd(i)) {
      const member = this.find(i);
      if (member >= 0 && !this.add(member, i)) return false;
    }
    return true;
  }

  /** Which member an indexed one is, by its key; -1 for another one. */
  find(indexed: number): number {
    const key = keyStart(indexed);
    const length = keyEnd(indexed) - key;
    const number = this.#bySlot[slotOf(length, BYTES[key]!)]!;
    if (number < 0) return -1;
    const name = this.#keys[number]!;
    return name.length === length && standsAt(key, name) ? number : -1;
  }

  /** Keeps the position of a member's value. False for a member that occurs twice: JSON.parse keeps the last value. */
  add(member: number, indexed: number): boolean {
    if (this.#ends[member] !== 0) return false;
    this.#starts[member] = valueStart(indexed);
    this.#ends[member] = valueEnd(indexed);
    return true;
  }

  isThere(member: number): boolean {
    return this.#ends[member] !== 0;
  }

  start(member: number): number {
    return this.#starts[member]!;
  }

  /** Whether a member's value has exactly these bytes. */
  is(member: number, value: Piece): boolean {
    const start = this.#starts[member]!;
    return this.#ends[member]! - start === value.length && standsAt(start, value);
  }

  /** A member's value as JSON.parse returns it; undefined where it is missing. */
  parsed(member: number, texts: KnownTexts | null = null): unknown {
    const [start, end] = [this.#starts[member]!, this.#ends[member]!];
    if (end === 0) return undefined;
    if (BYTES[start] === QUOTE) {
      const text = texts === null ? BYTES.toString('utf8', start + 1, end - 1) : texts.of(start + 1, end - 1);
      if (!hasEscapes || !text.includes('\\')) return text;
    }
    return JSON.parse(BYTES.toString('utf8', start, end));
  }
}

function slotOf(length: number, firstByte: number): number {
  return ((length & 31) << 5) | (firstByte & 31);
}

import { type Piece, pieceOf, QUOTE, standsAt } from './json-bytes.ts';
import { BYTES, hasEscapes, keyEnd, keyStart, memberEnd, valueEnd, valueStart } from './json-index.ts';
import type { KnownTexts } from './known-texts.ts';

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

import { WORD_BYTES, wordAt } from './json-bytes.ts';
import { BYTES } from './json-index.ts';

/** Longer texts are not kept: a template id has about 100 bytes. */
const LENGTH_MAX = 128;

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
    this.#words = new Int32Array((slots * LENGTH_MAX) / WORD_BYTES);
  }

  /** The text of the message from `start` to `end`. */
  of(start: number, end: number): string {
    const length = end - start;
    if (length < WORD_BYTES || length > LENGTH_MAX) return BYTES.toString('utf8', start, end);
    const slot = hashOf(start, end) & this.#mask;
    const words = (slot * LENGTH_MAX) / WORD_BYTES;
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

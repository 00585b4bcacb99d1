/** Longer texts are not remembered; a party has about 90 bytes. */
const LENGTH_MAX = 128;
const UNKNOWN = -1;

/**
 * Texts that come again and again (parties, templates, synchronizers) and the number that each stands for, found by their bytes: to
 * compare bytes costs less than to make a text. Each text has one slot, where a newer one of the same slot takes its place: so
 * it is bounded. The bytes lie side by side, because a look-up costs what it costs to fetch them.
 */
export class KnownTexts {
  readonly #mask: number;
  readonly #lengths: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #numbers: Int32Array;
  readonly #read: (text: string) => number;

  /** `slots` is a power of two. `read` gives the number of a text that is not known, or -1, which is not remembered. */
  constructor(slots: number, read: (text: string) => number) {
    this.#mask = slots - 1;
    this.#lengths = new Uint8Array(slots);
    this.#bytes = new Uint8Array(slots * LENGTH_MAX);
    this.#numbers = new Int32Array(slots);
    this.#read = read;
  }

  /** The number of the text that these bytes are, all of them ASCII. */
  of(b: Buffer, start: number, end: number): number {
    const slot = hashOf(b, start, end) & this.#mask;
    const length = end - start;
    const known = slot * LENGTH_MAX;
    if (length > 0 && this.#lengths[slot] === length && sameBytes(b, start, this.#bytes, known, length)) {
      return this.#numbers[slot]!;
    }
    const number = this.#read(b.toString('latin1', start, end));
    if (number === UNKNOWN || length > LENGTH_MAX) return number;
    this.#bytes.set(b.subarray(start, end), known);
    this.#lengths[slot] = length;
    this.#numbers[slot] = number;
    return number;
  }
}

function sameBytes(a: Uint8Array, atA: number, b: Uint8Array, atB: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[atA + i] !== b[atB + i]) return false;
  return true;
}

/** From the first and the last bytes and the length: ids, parties and templates differ there, also those with a common name. */
function hashOf(b: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let i = start; i < start + 4 && i < end; i++) hash = Math.imul(hash ^ b[i]!, 0x01000193);
  for (let i = Math.max(start, end - 8); i < end; i++) hash = Math.imul(hash ^ b[i]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

import { standsAt } from './json-bytes.ts';

const NOTHING = new Uint8Array(0);

/**
 * What texts that come again and again mean (parties, templates, synchronizers), found by their bytes: to compare bytes costs less
 * than to make a text. Each text has one slot, where a newer one of the same slot takes its place: so it is bounded.
 */
export class KnownTexts<Meaning> {
  readonly #mask: number;
  readonly #bytes: Uint8Array[];
  readonly #meanings: (Meaning | null)[];
  readonly #read: (text: string) => Meaning | null;

  /** `slots` is a power of two. `read` is asked for each text that is not known; null is not remembered. */
  constructor(slots: number, read: (text: string) => Meaning | null) {
    this.#mask = slots - 1;
    this.#bytes = new Array<Uint8Array>(slots).fill(NOTHING);
    this.#meanings = new Array<Meaning | null>(slots).fill(null);
    this.#read = read;
  }

  /** What these bytes mean, all of them ASCII. */
  of(b: Buffer, start: number, end: number): Meaning | null {
    const slot = hashOf(b, start, end) & this.#mask;
    const known = this.#bytes[slot]!;
    if (known.length === end - start && standsAt(b, start, known)) return this.#meanings[slot]!;
    const meaning = this.#read(b.toString('latin1', start, end));
    if (meaning === null) return null;
    this.#bytes[slot] = Uint8Array.prototype.slice.call(b, start, end);
    this.#meanings[slot] = meaning;
    return meaning;
  }
}

/** From the first and the last bytes and the length: ids, parties and templates differ there, also those with a common name. */
function hashOf(b: Buffer, start: number, end: number): number {
  let hash = end - start;
  for (let i = start; i < start + 4 && i < end; i++) hash = Math.imul(hash ^ b[i]!, 0x01000193);
  for (let i = Math.max(start, end - 8); i < end; i++) hash = Math.imul(hash ^ b[i]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

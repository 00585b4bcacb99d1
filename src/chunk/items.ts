import { ITEM_BYTES, itemOf } from '../ledger/digest.ts';

const ITEM_WORDS = ITEM_BYTES / Uint32Array.BYTES_PER_ELEMENT;
const ITEMS_MIN = 1024;

/** A list of items (docs/digest.md). In words of 32 bits, because copying eight words is faster than making a view of 32 bytes. */
export class Items {
  #words = new Uint32Array(ITEMS_MIN * ITEM_WORDS);
  #bytes = Buffer.from(this.#words.buffer);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Adds the item of a line. */
  addLine(line: string): void {
    this.#next();
    this.#bytes.write(itemOf(line), this.length * ITEM_BYTES, ITEM_BYTES, 'latin1');
    this.length += 1;
  }

  /** Adds zeros, for an event that has no item. */
  addNone(): void {
    this.#next().fill(0, this.length * ITEM_WORDS, (this.length + 1) * ITEM_WORDS);
    this.length += 1;
  }

  /** Adds one of the items that `cut` gave. */
  addFrom(items: Uint32Array, item: number): void {
    const words = this.#next();
    const [from, to] = [item * ITEM_WORDS, this.length * ITEM_WORDS];
    for (let i = 0; i < ITEM_WORDS; i++) words[to + i] = items[from + i]!;
    this.length += 1;
  }

  /** A copy of all of them. */
  cut(): Uint32Array {
    return this.#words.slice(0, this.length * ITEM_WORDS);
  }

  /** All of them as bytes, which are valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length * ITEM_BYTES);
  }

  #next(): Uint32Array {
    if ((this.length + 1) * ITEM_WORDS > this.#words.length) {
      const larger = new Uint32Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
      this.#bytes = Buffer.from(larger.buffer);
    }
    return this.#words;
  }
}

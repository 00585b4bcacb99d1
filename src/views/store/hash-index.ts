const CAPACITY_MIN = 4096;
/** A slot holds the number + 1 in 32 bits: at 150 bytes a contract, 600 GB of views. */
export const NUMBER_MAX = 2 ** 32 - 2;

/**
 * Finds whole numbers by id hash, without an object or a boxed number per entry: a hash table of two typed arrays, open
 * addressing, 11 to 21 bytes an entry. Only the low 32 bits of a hash are used, which spread well; a hash may have several
 * numbers, so callers compare the ids.
 */
export class HashIndex {
  #hashes = new Int32Array(CAPACITY_MIN);
  /** Number + 1; 0 marks a free slot. */
  #numbers = new Uint32Array(CAPACITY_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(idHash: number, number: number): void {
    if (!(number >= 0 && number <= NUMBER_MAX)) throw new RangeError(`number ${number}: expected 0 to ${NUMBER_MAX}`);
    if (this.#size * 4 >= this.#hashes.length * 3) this.#grow();
    this.#put(idHash | 0, number + 1);
    this.#size += 1;
  }

  #put(hash: number, entry: number): void {
    const mask = this.#hashes.length - 1;
    let slot = hash & mask;
    while (this.#numbers[slot] !== 0) slot = (slot + 1) & mask;
    this.#hashes[slot] = hash;
    this.#numbers[slot] = entry;
  }

  /** Removes one entry, and moves up those after it that are there because its slot was taken. */
  remove(idHash: number, number: number): void {
    const mask = this.#hashes.length - 1;
    let free = this.first(idHash);
    while (free >= 0 && this.number(free) !== number) free = this.next(idHash, free);
    if (free < 0) throw new Error(`number ${number} is not in the index`);
    for (let slot = (free + 1) & mask; this.#numbers[slot] !== 0; slot = (slot + 1) & mask) {
      const distance = (slot - this.#hashes[slot]!) & mask;
      if (distance < ((slot - free) & mask)) continue;
      this.#hashes[free] = this.#hashes[slot]!;
      this.#numbers[free] = this.#numbers[slot]!;
      free = slot;
    }
    this.#numbers[free] = 0;
    this.#size -= 1;
  }

  /** The slot of the first entry with that hash; -1 for none. */
  first(idHash: number): number {
    return this.#from(idHash | 0, idHash & (this.#hashes.length - 1));
  }

  /** The slot of the next entry with that hash after a slot; -1 for none. */
  next(idHash: number, slot: number): number {
    return this.#from(idHash | 0, (slot + 1) & (this.#hashes.length - 1));
  }

  number(slot: number): number {
    return this.#numbers[slot]! - 1;
  }

  #from(hash: number, start: number): number {
    const mask = this.#hashes.length - 1;
    for (let slot = start; this.#numbers[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] === hash) return slot;
    }
    return -1;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#numbers.fill(0);
    this.#size = 0;
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers];
    this.#hashes = new Int32Array(hashes.length * 2);
    this.#numbers = new Uint32Array(hashes.length * 2);
    for (let slot = 0; slot < hashes.length; slot++) {
      if (numbers[slot] !== 0) this.#put(hashes[slot]!, numbers[slot]!);
    }
  }
}

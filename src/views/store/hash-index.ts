const CAPACITY_MIN = 4096;
/** A slot holds the number + 1 in 32 bits: at 150 bytes a contract, 600 GB of views. */
export const NUMBER_MAX = 2 ** 32 - 2;

/**
 * Finds whole numbers by id hash, without an object or a boxed number per entry: a hash table of two typed arrays, open
 * addressing, 11 to 21 bytes an entry. Only the low 32 bits of a hash are used, which spread well; a hash may have several
 * numbers, so callers compare the ids.
 */
export class HashIndex {
  /** Two words a slot, which are read together: the hash, and the number + 1, where 0 marks a free slot. */
  #slots = new Int32Array(CAPACITY_MIN * 2);
  #capacity = CAPACITY_MIN;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(idHash: number, number: number): void {
    if (!(number >= 0 && number <= NUMBER_MAX)) throw new RangeError(`number ${number}: expected 0 to ${NUMBER_MAX}`);
    if (this.#size * 4 >= this.#capacity * 3) this.#grow();
    this.#put(idHash | 0, (number + 1) | 0);
    this.#size += 1;
  }

  #put(hash: number, entry: number): void {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    let slot = hash & mask;
    while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = hash;
    slots[slot * 2 + 1] = entry;
  }

  /** Removes one entry, and moves up those after it that are there because its slot was taken. */
  remove(idHash: number, number: number): void {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    let free = this.first(idHash);
    while (free >= 0 && this.number(free) !== number) free = this.next(idHash, free);
    if (free < 0) throw new Error(`number ${number} is not in the index`);
    for (let slot = (free + 1) & mask; slots[slot * 2 + 1] !== 0; slot = (slot + 1) & mask) {
      const distance = (slot - slots[slot * 2]!) & mask;
      if (distance < ((slot - free) & mask)) continue;
      slots[free * 2] = slots[slot * 2]!;
      slots[free * 2 + 1] = slots[slot * 2 + 1]!;
      free = slot;
    }
    slots[free * 2 + 1] = 0;
    this.#size -= 1;
  }

  /** The slot of the first entry with that hash; -1 for none. */
  first(idHash: number): number {
    return this.#from(idHash | 0, idHash & (this.#capacity - 1));
  }

  /** The slot of the next entry with that hash after a slot; -1 for none. */
  next(idHash: number, slot: number): number {
    return this.#from(idHash | 0, (slot + 1) & (this.#capacity - 1));
  }

  number(slot: number): number {
    return (this.#slots[slot * 2 + 1]! - 1) >>> 0;
  }

  #from(hash: number, start: number): number {
    const slots = this.#slots;
    const mask = this.#capacity - 1;
    for (let slot = start; slots[slot * 2 + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[slot * 2] === hash) return slot;
    }
    return -1;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#slots.fill(0);
    this.#size = 0;
  }

  #grow(): void {
    const slots = this.#slots;
    const capacity = this.#capacity * 2;
    this.#slots = new Int32Array(capacity * 2);
    this.#capacity = capacity;
    for (let at = 0; at < slots.length; at += 2) if (slots[at + 1] !== 0) this.#put(slots[at]!, slots[at + 1]!);
  }
}

const CAPACITY_MIN = 4096;

/**
 * Finds list positions by id hash, without an object or a boxed number per entry: a hash table of two typed arrays, open addressing.
 * Id hashes spread well, so their low bits are the slot. Several positions may have the same one. Nothing is deleted but all at once.
 */
export class HashIndex {
  #hashes = new Float64Array(CAPACITY_MIN);
  /** Position + 1; 0 marks a free slot. */
  #positions = new Int32Array(CAPACITY_MIN);
  #size = 0;

  add(idHash: number, position: number): void {
    if (this.#size * 2 >= this.#hashes.length) this.#grow();
    const mask = this.#hashes.length - 1;
    let slot = (idHash >>> 0) & mask;
    while (this.#positions[slot] !== 0) slot = (slot + 1) & mask;
    this.#hashes[slot] = idHash;
    this.#positions[slot] = position + 1;
    this.#size += 1;
  }

  /** The slot of the first entry with that hash; -1 for none. */
  first(idHash: number): number {
    return this.#from(idHash, (idHash >>> 0) & (this.#hashes.length - 1));
  }

  /** The slot of the next entry with that hash after a slot; -1 for none. */
  next(idHash: number, slot: number): number {
    return this.#from(idHash, (slot + 1) & (this.#hashes.length - 1));
  }

  position(slot: number): number {
    return this.#positions[slot]! - 1;
  }

  #from(idHash: number, start: number): number {
    const mask = this.#hashes.length - 1;
    for (let slot = start; this.#positions[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] === idHash) return slot;
    }
    return -1;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#positions.fill(0);
    this.#size = 0;
  }

  #grow(): void {
    const [hashes, positions] = [this.#hashes, this.#positions];
    this.#hashes = new Float64Array(hashes.length * 2);
    this.#positions = new Int32Array(hashes.length * 2);
    this.#size = 0;
    for (let slot = 0; slot < hashes.length; slot++) {
      if (positions[slot] !== 0) this.add(hashes[slot]!, positions[slot]! - 1);
    }
  }
}

const CAPACITY_MIN = 4096;

/**
 * Finds list positions by fold, without an object or a boxed number per entry: a hash table of two typed arrays, open addressing.
 * Folds spread well, so their low bits are the hash. Several positions may have the same fold. Nothing is deleted but all at once.
 */
export class FoldIndex {
  #folds = new Float64Array(CAPACITY_MIN);
  /** Position + 1; 0 marks a free slot. */
  #positions = new Int32Array(CAPACITY_MIN);
  #size = 0;

  add(fold: number, position: number): void {
    if (this.#size * 2 >= this.#folds.length) this.#grow();
    const mask = this.#folds.length - 1;
    let slot = (fold >>> 0) & mask;
    while (this.#positions[slot] !== 0) slot = (slot + 1) & mask;
    this.#folds[slot] = fold;
    this.#positions[slot] = position + 1;
    this.#size += 1;
  }

  /** The slot of the first entry with that fold; -1 for none. */
  first(fold: number): number {
    return this.#from(fold, (fold >>> 0) & (this.#folds.length - 1));
  }

  /** The slot of the next entry with that fold behind a slot; -1 for none. */
  next(fold: number, slot: number): number {
    return this.#from(fold, (slot + 1) & (this.#folds.length - 1));
  }

  position(slot: number): number {
    return this.#positions[slot]! - 1;
  }

  #from(fold: number, start: number): number {
    const mask = this.#folds.length - 1;
    for (let slot = start; this.#positions[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#folds[slot] === fold) return slot;
    }
    return -1;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#positions.fill(0);
    this.#size = 0;
  }

  #grow(): void {
    const [folds, positions] = [this.#folds, this.#positions];
    this.#folds = new Float64Array(folds.length * 2);
    this.#positions = new Int32Array(folds.length * 2);
    this.#size = 0;
    for (let slot = 0; slot < folds.length; slot++) {
      if (positions[slot] !== 0) this.add(folds[slot]!, positions[slot]! - 1);
    }
  }
}

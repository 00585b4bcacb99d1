/** A map of at most so many entries: with one more the oldest goes. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    super();
    this.#sizeMax = sizeMax;
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    if (this.size > this.#sizeMax) this.delete(this.keys().next().value!);
    return this;
  }
}

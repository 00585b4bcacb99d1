/** As many values are kept, if they fit; a ranking of a million owners has 12 MB. */
const KEPT_MAX = 4;
const KEPT_BYTES_MAX = 64 * 2 ** 20;

/** Values of the last few keys that were asked for. One that is being computed is awaited, not computed a second time. */
export class LastComputed<Value> {
  readonly #bytesOf: (value: Value) => number;
  /** The least recently asked for comes first; of one that is being computed the size is null. */
  readonly #kept = new Map<string, { readonly value: Promise<Value>; bytes: number | null }>();

  constructor(bytesOf: (value: Value) => number) {
    this.#bytesOf = bytesOf;
  }

  of(key: string, compute: () => Promise<Value>): Promise<Value> {
    const kept = this.#kept.get(key) ?? this.#begin(key, compute());
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.value;
  }

  #begin(key: string, value: Promise<Value>): { readonly value: Promise<Value>; bytes: number | null } {
    const kept = { value, bytes: null as number | null };
    value.then(
      (computed) => {
        kept.bytes = this.#bytesOf(computed);
        this.#forgetOldest();
      },
      () => this.#kept.delete(key),
    );
    return kept;
  }

  /** The last one is always kept. */
  #forgetOldest(): void {
    const computed = [...this.#kept].flatMap(([key, { bytes }]) => (bytes === null ? [] : [{ key, bytes }]));
    let bytes = computed.reduce((sum, each) => sum + each.bytes, 0);
    while (computed.length > KEPT_MAX || (bytes > KEPT_BYTES_MAX && computed.length > 1)) {
      const oldest = computed.shift()!;
      this.#kept.delete(oldest.key);
      bytes -= oldest.bytes;
    }
  }
}

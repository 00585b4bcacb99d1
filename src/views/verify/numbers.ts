/** Which numbers of coin contracts were found: a bit for each number. */
export class NumbersSeen {
  readonly #bits: Uint8Array;
  readonly #next: bigint;

  constructor(next: bigint) {
    this.#next = next;
    this.#bits = new Uint8Array(Number(next / 8n) + 1);
  }

  /** Whether the number is from before the verification began: only these are checked. */
  covers(no: bigint): boolean {
    return no >= 0n && no < this.#next;
  }

  has(no: bigint): boolean {
    return (this.#bits[Number(no >> 3n)]! & (1 << Number(no & 7n))) !== 0;
  }

  add(no: bigint): void {
    const at = Number(no >> 3n);
    this.#bits[at] = this.#bits[at]! | (1 << Number(no & 7n));
  }
}

import { grown } from '../../chunk/id-bytes.ts';
import { rowOrder } from '../store/row-order.ts';
import { type Sums, versionBytes } from '../store/totals.ts';

const BYTES_MIN = 64 * 1024;

/** The rows of `owner_total` that wait for the commit, as numbers and bytes: an object for each would be collected again and again. */
export class QueuedVersions {
  readonly #owners: number[] = [];
  readonly #seqs: number[] = [];
  readonly #ends: number[] = [];
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
  #length = 0;

  push(owner: number, seq: number, { unlocked, locked }: { unlocked: Sums; locked: Sums }): void {
    const v = versionBytes(unlocked, locked);
    if (this.#length + v.length > this.#bytes.length) this.#bytes = grown(this.#bytes, this.#length + v.length);
    this.#bytes.set(v, this.#length);
    this.#length += v.length;
    this.#owners.push(owner);
    this.#seqs.push(seq);
    this.#ends.push(this.#length);
  }

  /** Passes on all of them in the order of the table's key, those of one owner as they were queued. Bytes are valid until the next change. */
  each(take: (owner: number, seq: number, v: Buffer) => void): void {
    for (const i of rowOrder(this.#owners, (owner) => owner)) this.#pass(i, take);
  }

  #pass(i: number, take: (owner: number, seq: number, v: Buffer) => void): void {
    take(this.#owners[i]!, this.#seqs[i]!, this.#bytes.subarray(i === 0 ? 0 : this.#ends[i - 1], this.#ends[i]));
  }

  clear(): void {
    this.#owners.length = 0;
    this.#seqs.length = 0;
    this.#ends.length = 0;
    this.#length = 0;
  }
}

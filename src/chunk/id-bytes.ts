import { idHash, packHex } from '../ledger/contract-id.ts';

const BYTES_MIN = 96 * 1024;

/** The ids of a chunk, one after the other. */
export class IdBytes {
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
  length = 0;

  /** Appends an id; 1 where it was packed. */
  add(id: string): 0 | 1 {
    // A unit of UTF-16 takes at most three bytes of UTF-8; an update id has any length.
    this.#reserve(id.length * 3);
    const packed = packHex(id, this.#bytes, this.length);
    this.length += packed ? id.length / 2 : this.#bytes.write(id, this.length, 'utf8');
    return packed ? 1 : 0;
  }

  /** The hash of the id that was added last; `start` is where it begins. */
  hashFrom(start: number, migrationId: number): number {
    return idHash(this.#bytes, start, this.length, migrationId);
  }

  /** A copy of all of them. */
  cut(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.length);
  }

  #reserve(length: number): void {
    if (this.length + length > this.#bytes.length) this.#bytes = grown(this.#bytes, this.length + length);
  }
}

/** The same bytes with room for as many as needed, and at least twice as many. */
export function grown(buffer: Buffer, needed: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  larger.set(buffer);
  return larger;
}

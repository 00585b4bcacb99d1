import type { EpochBits } from '../store/account-epochs.ts';
import { decodeVersion, encodeVersion, type Sums } from '../store/stored-rows.ts';

/** What views.db has of an owner, without its party. */
export interface DroppedOwner {
  /** The instrument of its account. */
  readonly coin: number;
  readonly epochs: EpochBits;
  readonly unlocked: Sums;
  readonly locked: Sums;
}

/** Owners in one piece of memory. */
const OWNERS_AT_ONCE = 16_384;
/** Of a million owners 64 MiB; those numbered later are read from views.db. */
const OWNERS_MAX = 64 * OWNERS_AT_ONCE;
const OWNER_BYTES = 64;
/** Of an owner: how many bytes its epochs and its version have, where nothing is kept 0; and its instrument. */
const [EPOCHS_LENGTH, VERSION_LENGTH, COIN, BYTES] = [0, 1, 2, 6] as const;

/**
 * Owners by number in 64 bytes each, where an object takes a kilobyte. A history has more owners than are kept as objects: what is
 * here need not be read from three tables.
 */
export class DroppedOwners {
  readonly #pieces: Buffer[] = [];

  set(no: number, { coin, epochs, unlocked, locked }: DroppedOwner): void {
    if (no >= OWNERS_MAX) return;
    const [piece, at] = this.#placeOf(no);
    const version = encodeVersion(unlocked, locked);
    const epochsLength = epochs.length / 2;
    const isSmall = BYTES + epochsLength + version.length <= OWNER_BYTES;
    piece[at + VERSION_LENGTH] = isSmall ? version.length : 0;
    if (!isSmall) return;
    piece[at + EPOCHS_LENGTH] = epochsLength;
    piece.writeUInt32LE(coin, at + COIN);
    piece.write(epochs, at + BYTES, 'hex');
    version.copy(piece, at + BYTES + epochsLength);
  }

  get(no: number): DroppedOwner | null {
    if (no >= OWNERS_MAX) return null;
    const [piece, at] = this.#placeOf(no);
    const length = piece[at + VERSION_LENGTH]!;
    if (length === 0) return null;
    const coin = piece.readUInt32LE(at + COIN);
    const begin = at + BYTES + piece[at + EPOCHS_LENGTH]!;
    const epochs = piece.toString('hex', at + BYTES, begin).toUpperCase();
    return { coin, epochs, ...decodeVersion(piece.subarray(begin, begin + length)) };
  }

  #placeOf(no: number): [piece: Buffer, at: number] {
    const at = Math.floor(no / OWNERS_AT_ONCE);
    while (this.#pieces.length <= at) this.#pieces.push(Buffer.alloc(OWNERS_AT_ONCE * OWNER_BYTES));
    return [this.#pieces[at]!, (no % OWNERS_AT_ONCE) * OWNER_BYTES];
  }
}

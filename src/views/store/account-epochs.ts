/**
 * The epochs in which an account has rows, as `account_epochs.bits` has them: bit n, the lowest of a byte first, is epoch n. An
 * account is read only there.
 */
export type EpochBits = Uint8Array;

export const NO_EPOCHS: EpochBits = new Uint8Array(0);

export function hasEpoch(bits: EpochBits, epoch: number): boolean {
  return ((bits[epoch >> 3] ?? 0) & (1 << (epoch & 7))) !== 0;
}

export function withEpoch(bits: EpochBits, epoch: number): Buffer {
  const more = Buffer.alloc(Math.max((epoch >> 3) + 1, bits.length));
  more.set(bits);
  more[epoch >> 3]! |= 1 << (epoch & 7);
  return more;
}

/** The epochs up to `to`, the last first. */
export function* epochsDown(bits: EpochBits, to: number): Generator<number> {
  for (let epoch = Math.min(to, bits.length * 8 - 1); epoch >= 0; epoch--) if (hasEpoch(bits, epoch)) yield epoch;
}

/** The epochs from `from` to `to`, both inclusive, in order. */
export function* epochsUp(bits: EpochBits, from: number, to = Infinity): Generator<number> {
  const last = Math.min(to, bits.length * 8 - 1);
  for (let epoch = from; epoch <= last; epoch++) if (hasEpoch(bits, epoch)) yield epoch;
}

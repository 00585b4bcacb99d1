/**
 * The epochs in which an account has rows, as hex digits of `account_epochs.bits`: bit n of the bytes, the lowest of a byte first, is
 * epoch n. An account is read only there. As text: the writer keeps them of many accounts, and a Buffer for each costs a microsecond.
 */
export type EpochBits = string;

export const NO_EPOCHS: EpochBits = '';

/** The bits of an account; NO_EPOCHS where it has no row. */
export const epochBitsOf = (account: string): string =>
  `hex((SELECT bits FROM account_epochs WHERE account = ${account}))`;

/** Where the digit with an epoch's bit is: that of the high bits of a byte comes first. */
const digitOf = (epoch: number): number => (epoch >> 2) ^ 1;

export function hasEpoch(bits: EpochBits, epoch: number): boolean {
  return (valueAt(bits, digitOf(epoch)) & (1 << (epoch & 3))) !== 0;
}

export function withEpoch(bits: EpochBits, epoch: number): EpochBits {
  const at = digitOf(epoch);
  const changed = (valueAt(bits, at) | (1 << (epoch & 3))).toString(16).toUpperCase();
  const whole = bits.padEnd((epoch >> 3) * 2 + 2, '0');
  return whole.slice(0, at) + changed + whole.slice(at + 1);
}

/** Of an upper-case digit; 0 behind the last one. */
function valueAt(bits: EpochBits, at: number): number {
  const code = at < bits.length ? bits.charCodeAt(at) : 48;
  return code < 65 ? code - 48 : code - 55;
}

/** The epochs up to `to`, the last first. */
export function* epochsDown(bits: EpochBits, to: number): Generator<number> {
  for (let epoch = Math.min(to, bits.length * 4 - 1); epoch >= 0; epoch--) if (hasEpoch(bits, epoch)) yield epoch;
}

/** The epochs from `from` to `to`, both inclusive, in order. */
export function* epochsUp(bits: EpochBits, from: number, to = Infinity): Generator<number> {
  const last = Math.min(to, bits.length * 4 - 1);
  for (let epoch = from; epoch <= last; epoch++) if (hasEpoch(bits, epoch)) yield epoch;
}

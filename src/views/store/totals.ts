/**
 * The sums of one owner's coins, unlocked or locked: enough for every total and, until the first coin expires, for the
 * fee at any round (docs/rules.md, fees). Amounts in 1e-10 units, rateRound in units times rounds.
 */
export interface Sums {
  count: number;
  amount: bigint;
  rate: bigint;
  rateRound: bigint;
  /** A lower bound of the expiry rounds: only falls, and is reset to Infinity when the count is 0. */
  expiryBound: number | bigint;
}

/** Shared by all owners without coin of a kind: most never lock any. Never changed. */
export const NO_SUMS: Sums = Object.freeze(noSums());

/** What one contract adds to its owner's sums. */
export interface SumTerms {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly rateRound: bigint;
  readonly expiry: number | bigint;
}

export function noSums(): Sums {
  return { count: 0, amount: 0n, rate: 0n, rateRound: 0n, expiryBound: Infinity };
}

export function addTo(sums: Sums, terms: SumTerms): void {
  sums.count += 1;
  sums.amount += terms.amount;
  sums.rate += terms.rate;
  sums.rateRound += terms.rateRound;
  if (terms.expiry < sums.expiryBound) sums.expiryBound = terms.expiry;
}

export function takeFrom(sums: Sums, terms: Omit<SumTerms, 'expiry'>): void {
  sums.count -= 1;
  sums.amount -= terms.amount;
  sums.rate -= terms.rate;
  sums.rateRound -= terms.rateRound;
  if (sums.count > 0) {
    if (sums.amount < 0n || sums.rate < 0n || sums.rateRound < 0n) throw new Error('an owner total fell below zero');
    return;
  }
  if (sums.count < 0 || sums.amount !== 0n || sums.rate !== 0n || sums.rateRound !== 0n) {
    throw new Error('an owner without coin has a total that is not zero');
  }
  sums.expiryBound = Infinity;
}

/** The size of the largest version: ten numbers, none above 2^2048. */
const scratch = Buffer.allocUnsafe(4096);

/** The encoding of `owner_total.v`: numbers in LEB128; the locked half only where there is locked coin. Valid until the next one. */
export function encodeVersion(unlocked: Sums, locked: Sums): Buffer {
  let at = writeSums(0, unlocked);
  if (locked.count > 0) at = writeSums(at, locked);
  return scratch.subarray(0, at);
}

function writeSums(start: number, sums: Sums): number {
  let at = writeSmall(start, sums.count);
  if (sums.count === 0) return at;
  at = writeLarge(at, sums.amount);
  at = writeLarge(at, sums.rate);
  at = writeLarge(at, sums.rateRound);
  const bound = sums.expiryBound;
  return bound === Infinity ? writeSmall(at, 0) : writeLarge(at, BigInt(bound) + 1n);
}

/** Four groups of seven bits: they fit the machine's integers. */
const QUARTET_BITS = 28;
const QUARTET = 2 ** QUARTET_BITS;

function writeSmall(start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= QUARTET; rest = Math.floor(rest / QUARTET)) {
    // Bit operators take a number modulo 2^32.
    const low = rest & (QUARTET - 1);
    scratch[at++] = low | 128;
    scratch[at++] = (low >>> 7) | 128;
    scratch[at++] = (low >>> 14) | 128;
    scratch[at++] = (low >>> 21) | 128;
  }
  for (; rest >= 128; rest >>>= 7) scratch[at++] = rest | 128;
  scratch[at++] = rest;
  return at;
}

const GROUP_BITS = 49;

/** As writeSmall, seven groups of seven bits at a time, so that bigint arithmetic stays rare. */
function writeLarge(start: number, value: bigint): number {
  let at = start;
  let rest = value;
  while (rest > 0x1fffffffffffffn) {
    let low = Number(BigInt.asUintN(GROUP_BITS, rest));
    for (let i = 0; i < 7; i++) {
      scratch[at++] = (low % 128) | 128;
      low = Math.floor(low / 128);
    }
    rest >>= BigInt(GROUP_BITS);
  }
  return writeSmall(at, Number(rest));
}

export function decodeVersion(v: Uint8Array): { unlocked: Sums; locked: Sums } {
  const reader = { bytes: v, at: 0 };
  const unlocked = readSums(reader);
  const locked = reader.at < v.length ? readSums(reader) : NO_SUMS;
  if (reader.at !== v.length) throw new Error('an owner_total version has bytes after its end');
  return { unlocked, locked };
}

interface ByteReader {
  readonly bytes: Uint8Array;
  at: number;
}

function readSums(reader: ByteReader): Sums {
  const count = Number(readNumber(reader));
  if (count === 0) return NO_SUMS;
  const amount = readNumber(reader);
  const rate = readNumber(reader);
  const rateRound = readNumber(reader);
  const bound = readNumber(reader);
  return { count, amount, rate, rateRound, expiryBound: bound === 0n ? Infinity : bound - 1n };
}

function readNumber(reader: ByteReader): bigint {
  let value = 0n;
  let shift = 0n;
  for (;;) {
    let low = 0;
    let scale = 1;
    for (let i = 0; i < 7; i++) {
      const byte = reader.bytes[reader.at++];
      if (byte === undefined) throw new Error('an owner_total version ends too early');
      low += (byte & 127) * scale;
      if (byte < 128) return value + (BigInt(low) << shift);
      scale *= 128;
    }
    value += BigInt(low) << shift;
    shift += BigInt(GROUP_BITS);
  }
}

/** A seeded source of numbers (xoshiro128**): the same seed gives the same ledger on every machine. */
export interface Random {
  /** 0 <= n < 2^32 */
  word(): number;
  /** 0 <= n < limit, limit <= 2^32 */
  below(limit: number): number;
  /** 0 <= n < limit */
  bigBelow(limit: bigint): bigint;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Lower-case hex digits; `digits` is a multiple of 8. */
  hex(digits: number): string;
}

const WORDS = 2 ** 32;
const FOUR_HEX_DIGITS = Array.from({ length: 65_536 }, (_, n) => n.toString(16).padStart(4, '0'));

export function createRandom(seed: number): Random {
  let [a, b, c, d] = [spread(seed, 1), spread(seed, 2), spread(seed, 3), spread(seed, 4)];
  function word(): number {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result >>> 0;
  }
  const below = (limit: number): number => Math.floor((word() / WORDS) * limit);
  return {
    word,
    below,
    bigBelow(limit) {
      let bits = 0n;
      for (let reach = 1n; reach < limit << 32n; reach <<= 32n) bits = (bits << 32n) | BigInt(word());
      return bits % limit;
    },
    chance: (share) => word() < share * WORDS,
    pick: (items) => items[below(items.length)]!,
    hex(digits) {
      let text = '';
      while (text.length < digits) {
        const bits = word();
        text += FOUR_HEX_DIGITS[bits >>> 16]! + FOUR_HEX_DIGITS[bits & 0xffff]!;
      }
      return text;
    },
  };
}

function rotate(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by));
}

/** Neighbouring seeds must not give neighbouring states. */
function spread(seed: number, part: number): number {
  let bits = Math.imul(seed ^ Math.imul(part, 0x9e3779b9), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) | (part === 1 ? 1 : 0);
}

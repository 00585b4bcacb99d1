import { INT64_MAX } from '../json/int64.ts';

/**
 * What a coin's holding fee depends on; `holdings/fees.ts` sums the fees. Amount and rate in 1e-10 units, `round` is
 * that of its creation.
 */
export interface FeeTerms {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly createdRound: bigint;
}

/** `expiryRound` for the hot path: as a number where that is exact; Infinity for none. */
export function expiryOf({ amount, rate, createdRound }: FeeTerms): number | bigint {
  const [wholeAmount, wholeRate, round] = [Number(amount), Number(rate), Number(createdRound)];
  const isSafe = wholeAmount <= Number.MAX_SAFE_INTEGER && wholeRate <= Number.MAX_SAFE_INTEGER;
  const expiry = isSafe ? safeExpiryOf(wholeAmount, wholeRate, round) : null;
  return expiry ?? expiryRound({ amount, rate, createdRound }) ?? Infinity;
}

/**
 * `expiryRound` of whole numbers up to 2^53: their quotient, corrected by the remainder, is exact. Null where the round is
 * too large to be exact as a number.
 */
function safeExpiryOf(amount: number, rate: number, createdRound: number): number | null {
  if (rate === 0) return Infinity;
  const quotient = Math.floor(amount / rate);
  const rest = amount - quotient * rate;
  const expiry = createdRound + quotient + (rest > 0 ? 1 : 0);
  return rest >= 0 && rest < rate && expiry <= Number.MAX_SAFE_INTEGER ? expiry : null;
}

/** The smallest round R with (R - created) * rate >= amount; null when there is none, or none within int64. */
export function expiryRound({ amount, rate, createdRound }: FeeTerms): bigint | null {
  if (rate === 0n) return null;
  const expiry = createdRound + (amount + rate - 1n) / rate;
  return expiry > INT64_MAX ? null : expiry;
}

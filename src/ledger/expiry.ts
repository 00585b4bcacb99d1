import { INT64_MAX } from '../json/exact-number.ts';

/**
 * What a coin's holding fee depends on; `holdings/fees.ts` sums the fees. Amount and rate in 1e-10 units, `round` is
 * that of its creation.
 */
export interface FeeTerms {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly createdRound: bigint;
}

/** `expiryRound` as it is stored and compared: a number where that is exact; Infinity for none. */
export function expiryOf(terms: FeeTerms): number | bigint {
  const expiry = expiryRound(terms) ?? Infinity;
  return expiry <= Number.MAX_SAFE_INTEGER ? Number(expiry) : expiry;
}

/** The smallest round R with (R - created) * rate >= amount; null when there is none, or none within int64. */
export function expiryRound({ amount, rate, createdRound }: FeeTerms): bigint | null {
  if (rate === 0n) return null;
  const expiry = createdRound + (amount + rate - 1n) / rate;
  return expiry > INT64_MAX ? null : expiry;
}

/** What the holding fee of one coin contract depends on. Amount and rate in 1e-10 units, the round as in the feed. */
export interface FeeTerms {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly createdRound: bigint;
}

const INT64_MAX = 2n ** 63n - 1n;

/** fee(contract, R) = min(amount, (R - created) * rate): capped above, not below (design.md section 5). */
export function holdingFee(terms: FeeTerms, round: bigint): bigint {
  const accrued = (round - terms.createdRound) * terms.rate;
  return accrued < terms.amount ? accrued : terms.amount;
}

/**
 * `expiryRound` for the hot path: the same round, as a number where it is exact as one; Infinity for none. Below 2^53 the quotient of
 * two doubles, corrected by its remainder, is exact.
 */
export function expiryOf({ amount, rate, createdRound }: FeeTerms): number | bigint {
  if (rate === 0n) return Infinity;
  const [wholeAmount, wholeRate, round] = [Number(amount), Number(rate), Number(createdRound)];
  if (wholeAmount <= Number.MAX_SAFE_INTEGER && wholeRate <= Number.MAX_SAFE_INTEGER) {
    const quotient = Math.floor(wholeAmount / wholeRate);
    const rest = wholeAmount - quotient * wholeRate;
    const expiry = round + quotient + (rest > 0 ? 1 : 0);
    if (rest >= 0 && rest < wholeRate && expiry <= Number.MAX_SAFE_INTEGER) return expiry;
  }
  return expiryRound({ amount, rate, createdRound }) ?? Infinity;
}

/** The smallest round R with (R - created) * rate >= amount; null when there is none, or none within int64. */
export function expiryRound({ amount, rate, createdRound }: FeeTerms): bigint | null {
  if (rate === 0n) return null;
  const expiry = createdRound + (amount + rate - 1n) / rate;
  return expiry > INT64_MAX ? null : expiry;
}

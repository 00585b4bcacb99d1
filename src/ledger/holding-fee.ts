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

/** The smallest round R with (R - created) * rate >= amount; null when there is none, or none within int64. */
export function expiryRound({ amount, rate, createdRound }: FeeTerms): bigint | null {
  if (rate === 0n) return null;
  const expiry = createdRound + (amount + rate - 1n) / rate;
  return expiry > INT64_MAX ? null : expiry;
}

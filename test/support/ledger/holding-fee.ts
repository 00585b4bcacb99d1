import type { FeeTerms } from '../../../src/ledger/coin.ts';

/** fee(contract, R) = min(amount, (R - created) * rate): capped above, not below (docs/rules.md, fees). */
export function holdingFee(terms: FeeTerms, round: bigint): bigint {
  const accrued = (round - terms.createdRound) * terms.rate;
  return accrued < terms.amount ? accrued : terms.amount;
}

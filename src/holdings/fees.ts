import type { CoinSums, OwnerFacts, OwnerSums } from './facts.ts';

/** One figure for unlocked coin and one for locked coin, in 1e-10 units. */
export interface UnlockedLocked {
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** The sums of no coins. */
export const NO_COINS: CoinSums = { amount: 0n, rate: 0n, rateRound: 0n };

/** Whether a coin of these sums may have expired as of a round, so that a store has to read the expired ones. */
export function mayHaveExpired(
  { unlocked, locked }: { readonly unlocked: OwnerSums; readonly locked: OwnerSums },
  round: bigint,
): boolean {
  return round >= unlocked.expiryBound || round >= locked.expiryBound;
}

/** Sums that a store adds expired coins to as it reads them, because there may be a million of them. */
export class ExpiredSums implements CoinSums {
  amount = 0n;
  rate = 0n;
  rateRound = 0n;

  add(coin: { readonly amount: bigint; readonly rate: bigint; readonly round: bigint }): void {
    this.amount += coin.amount;
    this.rate += coin.rate;
    this.rateRound += coin.rate * coin.round;
  }
}

/**
 * Exact holding fees of an owner's coins as of a round (docs/rules.md, fees). A coin costs its rate for each round since its
 * creation, at most its amount: before the first one expires the sums are enough, then expired coins count with their amount.
 */
export function holdingFees(owner: OwnerFacts, round: bigint): UnlockedLocked {
  if (owner.expired === null && mayHaveExpired(owner, round))
    throw new Error(`the expired coins of ${owner.party} as of round ${round} were not read`);
  return {
    unlocked: fee(owner.unlocked, owner.expired?.unlocked ?? NO_COINS, round),
    locked: fee(owner.locked, owner.expired?.locked ?? NO_COINS, round),
  };
}

function fee(all: CoinSums, expired: CoinSums, round: bigint): bigint {
  return round * (all.rate - expired.rate) - (all.rateRound - expired.rateRound) + expired.amount;
}

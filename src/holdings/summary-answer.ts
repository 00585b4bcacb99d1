import { int64Json } from '../json/exact-number.ts';
import { fitsNumeric, formatAmount } from '../ledger/amount.ts';
import { formatTime } from '../ledger/time.ts';
import type { CoinSums, Lookup, OwnerFacts, OwnersFacts, OwnersLookup, SnapshotChoice } from './facts.ts';
import { HoldingsFault, snapshotFault } from './holdings-fault.ts';

/** Settings of summaries. */
export interface AnswerRules {
  /** Whether an owner without coin is answered with zeros or left out. */
  readonly emptyOwners: 'zero' | 'omit';
}

/** The answer of either version. */
export interface Summary {
  readonly record_time: string;
  readonly migration_id: number;
  /** Only with fees. An int64: a number, or the raw JSON of one that no double holds. */
  readonly computed_as_of_round?: unknown;
  /** The party, and its amounts by their names. */
  readonly summaries: readonly Readonly<Record<string, string>>[];
}

type SummaryRequest = SnapshotChoice & Pick<OwnersLookup, 'owners'>;

/** The facts for a summary; with a round where fees are wanted. */
export function summaryFacts(request: SummaryRequest, round: OwnersLookup['round']): Lookup<'owners'> {
  return { kind: 'owners', snapshot: request, owners: request.owners, round };
}

/** Throws a HoldingsFault where there is no such snapshot, or a total has too many digits. */
export function coinTotals(request: SummaryRequest, { snapshot, owners }: OwnersFacts, rules: AnswerRules): Summary {
  if (snapshot === null) throw snapshotFault(request);
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    summaries: answered(owners, rules).map(ownerTotals),
  };
}

/** Throws a HoldingsFault as above, and where no round is given or open. `isLimited`: of a participant, which hardly shows open rounds. */
export function feeTotals(request: SummaryRequest, facts: OwnersFacts, rules: AnswerRules, isLimited = false): Summary {
  const { snapshot, round, owners } = facts;
  if (snapshot === null) throw snapshotFault(request);
  if (round === null)
    throw new HoldingsFault(
      'no_open_round',
      isLimited
        ? 'No open mining rounds found: the participant that this service reads shows none; give as_of_round.'
        : 'No open mining rounds found.',
    );
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    computed_as_of_round: int64Json(round),
    summaries: answered(owners, rules).map((owner) => ownerTotalsAndFees(owner, holdingFees(owner, round))),
  };
}

function answered(owners: readonly OwnerFacts[], { emptyOwners }: AnswerRules): readonly OwnerFacts[] {
  return emptyOwners === 'zero' ? owners : owners.filter(({ unlocked, locked }) => unlocked.count + locked.count > 0);
}

function ownerTotals({ party, unlocked, locked }: OwnerFacts) {
  return {
    party_id: party,
    total_unlocked_coin: numeric(party, unlocked.amount),
    total_locked_coin: numeric(party, locked.amount),
    total_coin_holdings: numeric(party, unlocked.amount + locked.amount),
  };
}

function ownerTotalsAndFees(owner: OwnerFacts, fees: UnlockedLocked) {
  const { party, unlocked } = owner;
  return {
    ...ownerTotals(owner),
    accumulated_holding_fees_unlocked: numeric(party, fees.unlocked),
    accumulated_holding_fees_locked: numeric(party, fees.locked),
    accumulated_holding_fees_total: numeric(party, fees.unlocked + fees.locked),
    total_available_coin: numeric(party, unlocked.amount - fees.unlocked),
  };
}

/** Clients read these as Numeric(10) with 38 digits; a sum, or a fee of a round far off, may need more. */
function numeric(party: string, units: bigint): string {
  if (fitsNumeric(units)) return formatAmount(units);
  throw new HoldingsFault(
    'number_too_large',
    `a total or fee of ${party} does not fit a Numeric(10) of 38 digits: ${formatAmount(units)}`,
  );
}

/** One figure for unlocked coin and one for locked coin, in 1e-10 units. */
export interface UnlockedLocked {
  readonly unlocked: bigint;
  readonly locked: bigint;
}

/** The sums of no coins. */
export const NO_COINS: CoinSums = { amount: 0n, rate: 0n, rateRound: 0n };

/** Whether a coin of these sums may have expired as of a round, so that a store has to read the expired ones. */
export function mayHaveExpired({ unlocked, locked }: Pick<OwnerFacts, 'unlocked' | 'locked'>, round: bigint): boolean {
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

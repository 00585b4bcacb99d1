import { archived, created, ofAmuletRules, ofDsoRules } from './contract.ts';
import type { ExerciseEvent } from './event.ts';
import { nameOf } from './governance.ts';
import type { Ledger } from './ledger.ts';
import { round } from './rounds.ts';

const SV_COUPON = 'Splice.Amulet:SvRewardCoupon';
const REWARD_STATE = 'Splice.DSO.SvState:SvRewardState';
const MARKER = 'Splice.Amulet:FeaturedAppActivityMarker';

/** What expires of each kind of reward: how many at a time, under which list of the argument, and what each answers with. */
const EXPIRING = [
  {
    share: 4,
    counts: [1, 4, 20, 20],
    list: 'optValidatorLivenessActivityRecordCids',
    template: 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord',
    result: () => 'ValidatorLivenessActivityRecord_DsoExpireResult',
  },
  {
    share: 3,
    counts: [18, 18, 51],
    list: 'svRewardCouponCids',
    template: SV_COUPON,
    result: ({ random }: Ledger) => ({ weight: String(random.below(200_000)) }),
  },
  {
    share: 2,
    counts: [20],
    list: 'validatorRewardCouponCids',
    template: 'Splice.Amulet:ValidatorRewardCoupon',
    result: (ledger: Ledger) => ({ amount: ledger.decimal(3) }),
  },
  {
    share: 2,
    counts: [2, 20],
    list: 'appCouponCids',
    template: 'Splice.Amulet:AppRewardCoupon',
    result: (ledger: Ledger) => ({ featured: true, amount: ledger.decimal(2) }),
  },
] as const;
const BY_SHARE = EXPIRING.flatMap((each) => Array.from({ length: each.share }, () => each));

export function claimExpiredRewards(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const { counts, list, template, result } = ledger.random.pick(BY_SHARE);
  const expired = ledger.contractIds(ledger.random.pick<number>(counts));
  const closedRoundCid = ledger.contractId();
  const nothing = { validatorRewardCouponCids: [], appCouponCids: [], svRewardCouponCids: [] };
  const noFaucets = { optValidatorFaucetCouponCids: null, optValidatorLivenessActivityRecordCids: null };
  const choiceArg = { closedRoundCid, ...nothing, ...noFaucets, [list]: expired };
  const expiries = expired.map((contractId) => ({
    ...archived(template, contractId, ledger.dso, `${template.split(':')[1]}_DsoExpire`),
    argument: { closedRoundCid },
    result: result(ledger),
  }));
  const unclaimed = created(ledger, 'Splice.Amulet:UnclaimedReward', { amount: ledger.decimal(6) });
  return ofDsoRules(ledger, {
    choice: 'DsoRules_ClaimExpiredRewards',
    argument: { amuletRulesCid: ledger.amuletRules, choiceArg, sv },
    result: { unclaimedReward: unclaimed.contractId },
    actor: sv,
    children: [...expiries, unclaimed],
  });
}

export function receiveSvRewardCoupon(ledger: Ledger): ExerciseEvent {
  const { random, superValidators } = ledger;
  // Most super validators have one beneficiary, and some share what they get with everybody who is hosted by them.
  const shared = random.chance(0.22);
  const sv = shared ? superValidators[0]! : random.pick(superValidators);
  const count = shared ? 39 : random.pick([1, 1, 1, 1, 1, 2, 4]);
  const beneficiaries = Array.from({ length: count }, () => {
    return { _1: ledger.party(), _2: String(random.below(200_000)) };
  });
  const coupons = beneficiaries.map(({ _1: beneficiary, _2: weight }) => {
    return created(ledger, SV_COUPON, { sv, beneficiary, round: round(ledger, 0), weight }, [sv, beneficiary]);
  });
  const rewardStateCid = ledger.contractId();
  const state = {
    numRoundsMissed: String(random.below(100)),
    numRoundsCollected: String(random.below(100_000)),
    lastRoundCollected: round(ledger, 0),
    numCouponsIssued: String(random.below(100_000)),
  };
  const rewardState = created(ledger, REWARD_STATE, { svName: nameOf(sv), state });
  const openRoundCid = ledger.openRounds[0]!.contractId;
  return ofDsoRules(ledger, {
    choice: 'DsoRules_ReceiveSvRewardCoupon',
    argument: { sv, openRoundCid, rewardStateCid, beneficiaries },
    result: { svRewardState: rewardState.contractId, svRewardCoupons: coupons.map((each) => each.contractId) },
    actor: sv,
    children: [archived(REWARD_STATE, rewardStateCid, ledger.dso), rewardState, ...coupons],
  });
}

/** Markers of featured applications become coupons, a third as many. */
export function convertMarkers(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const markerCids = ledger.contractIds(ledger.random.chance(0.17) ? 2 : 16 + ledger.random.below(12));
  const coupons = Array.from({ length: Math.ceil(markerCids.length / 2.7) }, () => {
    const provider = ledger.party();
    const payload = {
      provider,
      featured: true,
      amount: ledger.decimal(2),
      round: round(ledger, 0),
      beneficiary: provider,
    };
    return created(ledger, 'Splice.Amulet:AppRewardCoupon', payload, [provider]);
  });
  const argument = { markerCids, openMiningRoundCid: ledger.openRounds[0]!.contractId, observers: null };
  const result = { appRewardCouponCids: coupons.map((each) => each.contractId) };
  const archives = markerCids.map((contractId) => archived(MARKER, contractId, ledger.dso));
  const converted = ofAmuletRules(ledger, {
    choice: 'AmuletRules_ConvertFeaturedAppActivityMarkers',
    argument,
    result,
    actor: ledger.dso,
    children: [...archives, ...coupons],
  });
  return ofDsoRules(ledger, {
    choice: 'DsoRules_AmuletRules_ConvertFeaturedAppActivityMarkers',
    argument: { amuletRulesCid: ledger.amuletRules, argument, sv },
    result: { result },
    actor: sv,
    children: [converted],
  });
}

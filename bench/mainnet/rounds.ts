import { archived, created, ofAmuletRules, ofDsoRules } from './contract.ts';
import type { CreateEvent, ExerciseEvent } from './event.ts';
import type { Ledger, OpenRound } from './ledger.ts';

const OPEN_ROUND = 'Splice.Round:OpenMiningRound';
const ISSUING_ROUND = 'Splice.Round:IssuingMiningRound';
const FIRST_ROUND = 74_223;
const TEN_MINUTES_SECONDS = 600;

/** The number of the newest open round, less so many. */
export function round(ledger: Ledger, back: number): { readonly number: string } {
  return { number: String(ledger.openRounds.at(-1)!.number - back) };
}

/** The feed's first update: three rounds are open from here on. */
export function bootstrapRounds(ledger: Ledger): ExerciseEvent {
  const rounds = [0, 1, 2].map((at) => openRound(ledger, FIRST_ROUND + at));
  const openRoundCid = rounds[0]!.contractId;
  return ofAmuletRules(ledger, {
    choice: 'AmuletRules_Bootstrap_Rounds',
    argument: { amuletPrice: ledger.decimal(0), round0Duration: { microseconds: '86400000000' } },
    result: { openRoundCid },
    actor: ledger.dso,
    children: rounds,
  });
}

export function advanceOpenRounds(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const [oldest, middle, latest] = ledger.openRounds as [OpenRound, OpenRound, OpenRound];
  ledger.openRounds.shift();
  const summarizing = created(ledger, 'Splice.Round:SummarizingMiningRound', {
    round: { number: String(oldest.number) },
    amuletPrice: ledger.decimal(0),
    ...issuance(ledger),
  });
  const opened = openRound(ledger, latest.number + 1);
  const cids = {
    roundToArchiveCid: oldest.contractId,
    middleRoundCid: middle.contractId,
    latestRoundCid: latest.contractId,
  };
  const advanced = ofAmuletRules(ledger, {
    choice: 'AmuletRules_AdvanceOpenMiningRounds',
    argument: { amuletPrice: ledger.decimal(0), ...cids },
    result: { summarizingRoundCid: summarizing.contractId, openRoundCid: opened.contractId },
    actor: ledger.dso,
    children: [archived(OPEN_ROUND, oldest.contractId, ledger.dso), summarizing, opened],
  });
  const amuletPriceVoteCids = ledger.contractIds(ledger.superValidators.length);
  return ofDsoRules(ledger, {
    choice: 'DsoRules_AdvanceOpenMiningRounds',
    argument: { amuletRulesCid: ledger.amuletRules, ...cids, amuletPriceVoteCids, sv },
    result: { summarizingRound: summarizing.contractId, openRound: opened.contractId },
    actor: sv,
    children: [advanced],
  });
}

function openRound(ledger: Ledger, number: number): CreateEvent {
  const opened = created(ledger, OPEN_ROUND, {
    round: { number: String(number) },
    amuletPrice: ledger.decimal(0),
    opensAt: ledger.time(TEN_MINUTES_SECONDS),
    targetClosesAt: ledger.time(3 * TEN_MINUTES_SECONDS),
    issuingFor: { microseconds: `${number}000000` },
    transferConfigUsd: {
      createFee: { fee: '0E-10' },
      holdingFee: { rate: '0.0000190259' },
      transferFee: { initialRate: '0E-10', steps: ['100', '1000', '1000000'].map(feeStep) },
      lockHolderFee: { fee: '0E-10' },
      extraFeaturedAppRewardAmount: '1.0000000000',
      maxNumInputs: '100',
      maxNumOutputs: '100',
      maxNumLockHolders: '50',
    },
    ...issuance(ledger),
  });
  ledger.openRounds.push({ contractId: opened.contractId, number });
  return opened;
}

function feeStep(from: string): object {
  return { _1: `${from}.0000000000`, _2: '0E-10' };
}

function issuance(ledger: Ledger): object {
  const issuanceConfig = {
    amuletToIssuePerYear: ledger.decimal(11),
    validatorRewardPercentage: '0.1200000000',
    appRewardPercentage: '0.4000000000',
    validatorRewardCap: '0.2000000000',
    featuredAppRewardCap: ledger.decimal(5),
    unfeaturedAppRewardCap: '0.6000000000',
    optValidatorFaucetCap: ledger.decimal(3),
    optDevelopmentFundPercentage: null,
  };
  return { issuanceConfig, tickDuration: { microseconds: '600000000' } };
}

export function closeRound(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const issuingRoundCid = ledger.contractId();
  const closed = created(ledger, 'Splice.Round:ClosedMiningRound', {
    round: round(ledger, 6),
    issuancePerValidatorRewardCoupon: ledger.decimal(0),
    issuancePerFeaturedAppRewardCoupon: ledger.decimal(1),
    issuancePerUnfeaturedAppRewardCoupon: ledger.decimal(0),
    issuancePerSvRewardCoupon: ledger.decimal(0),
    optIssuancePerValidatorFaucetCoupon: ledger.decimal(2),
  });
  const archive = archived(ISSUING_ROUND, issuingRoundCid, ledger.dso);
  const ofAmulet = ofAmuletRules(ledger, {
    choice: 'AmuletRules_MiningRound_Close',
    argument: { issuingRoundCid },
    result: { closedRoundCid: closed.contractId },
    actor: ledger.dso,
    children: [archive, closed],
  });
  return ofDsoRules(ledger, {
    choice: 'DsoRules_MiningRound_Close',
    argument: { amuletRulesCid: ledger.amuletRules, issuingRoundCid, sv },
    result: { closedRound: closed.contractId },
    actor: sv,
    children: [ofAmulet],
  });
}

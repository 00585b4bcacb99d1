import { javaDecimal, plainDecimal } from '../../test/support/ledger/wire-text.ts';
import { archived, ofAmuletRules } from './contract.ts';
import type { CreateEvent, ExerciseEvent } from './event.ts';
import type { Ledger } from './ledger.ts';
import { round } from './rounds.ts';

const COIN = 'Splice.Amulet:Amulet';
const SV_COUPON = 'Splice.Amulet:SvRewardCoupon';
const ACTIVITY_RECORD = 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord';
const RATE = '0.0002608789';
const ZERO = '0E-10';

/** Somebody collects rewards into a coin, together with coins that this feed has given him before. */
export function collectRewards(ledger: Ledger): ExerciseEvent {
  const { random } = ledger;
  const sender = ledger.collector();
  const owned = ledger.coinsOf(sender);
  // About as many coins go as come.
  const spent = owned.splice(0, random.pick([0, 1, 1, 1, 2]));
  const coupons = ledger.contractIds(1);
  const records = ledger.contractIds(random.chance(0.8) ? 1 : 0);
  const reward = 1n + random.bigBelow(10n ** 14n);
  const input = spent.reduce((sum, { units }) => sum + units, 0n);
  const coin = createCoin(ledger, sender, input + reward);
  owned.push({ contractId: coin.contractId, units: input + reward });
  const children = [
    ...spent.map(({ contractId }) => ({ ...archived(COIN, contractId, sender), actors: [ledger.dso, sender] })),
    ...coupons.map((contractId) => archived(SV_COUPON, contractId, sender, 'SvRewardCoupon_ArchiveAsBeneficiary')),
    ...records.map((contractId) => archived(ACTIVITY_RECORD, contractId, ledger.dso)),
    coin,
  ];
  const inputs = [
    ...spent.map(({ contractId: value }) => ({ tag: 'InputAmulet', value })),
    ...coupons.map((value) => ({ tag: 'InputSvRewardCoupon', value })),
    ...records.map((value) => ({ tag: 'InputValidatorLivenessActivityRecord', value })),
  ];
  const result = resultOf(ledger, { sender, coin: coin.contractId, input, reward });
  const argument = argumentOf(ledger, sender, inputs);
  return ofAmuletRules(ledger, { choice: 'AmuletRules_Transfer', argument, result, actor: sender, children });
}

function createCoin(ledger: Ledger, owner: string, units: bigint): CreateEvent {
  const amount = { initialAmount: javaDecimal(units), createdAt: round(ledger, 2), ratePerRound: { rate: RATE } };
  return {
    template: COIN,
    contractId: ledger.contractId(),
    payload: { dso: ledger.dso, owner, amount },
    signatories: [ledger.dso, owner],
    observers: [],
  };
}

function argumentOf(ledger: Ledger, sender: string, inputs: readonly object[]): object {
  return {
    transfer: { sender, provider: sender, inputs, outputs: [], beneficiaries: null },
    context: {
      openMiningRound: ledger.openRounds[0]!.contractId,
      issuingMiningRounds: [[round(ledger, 5), ledger.contractId()]],
      validatorRights: [],
      featuredAppRight: null,
    },
    expectedDso: ledger.dso,
  };
}

function resultOf(
  ledger: Ledger,
  { sender, coin, input, reward }: { sender: string; coin: string; input: bigint; reward: bigint },
): object {
  const change = { changeToInitialAmountAsOfRoundZero: javaDecimal(reward), changeToHoldingFeesRate: RATE };
  return {
    round: round(ledger, 2),
    summary: {
      inputAppRewardAmount: ZERO,
      inputValidatorRewardAmount: ZERO,
      inputSvRewardAmount: javaDecimal(reward),
      inputAmuletAmount: javaDecimal(input),
      balanceChanges: [[sender, change]],
      holdingFees: ZERO,
      outputFees: [],
      senderChangeFee: ZERO,
      senderChangeAmount: javaDecimal(input + reward),
      amuletPrice: ledger.decimal(0),
      inputValidatorFaucetAmount: ZERO,
      inputUnclaimedActivityRecordAmount: ZERO,
      inputDevelopmentFundAmount: null,
    },
    createdAmulets: [],
    senderChangeAmulet: coin,
    meta: {
      values: {
        'amulet.splice.lfdecentralizedtrust.org/sv-rewards': plainDecimal(reward),
        'splice.lfdecentralizedtrust.org/tx-kind': 'merge-split',
      },
    },
  };
}

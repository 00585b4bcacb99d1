import { created } from './contract.ts';
import type { CreateEvent, ExerciseEvent } from './event.ts';
import type { Ledger } from './ledger.ts';
import { round } from './rounds.ts';

const LICENSE = 'Splice.ValidatorLicense:ValidatorLicense';
const ACTIVITY_RECORD = 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord';

export function recordLivenessActivity(ledger: Ledger): ExerciseEvent {
  const validator = ledger.party();
  const license = renewed(ledger, validator);
  const coupon = created(ledger, ACTIVITY_RECORD, { validator, round: round(ledger, 1) }, [validator]);
  return {
    ...ofLicense(ledger, validator),
    choice: 'ValidatorLicense_RecordValidatorLivenessActivity',
    argument: { openRoundCid: ledger.openRounds[0]!.contractId },
    result: { licenseCid: license.contractId, couponCid: coupon.contractId },
    children: [license, coupon],
  };
}

export function updateMetadata(ledger: Ledger): ExerciseEvent {
  const validator = ledger.party();
  const license = renewed(ledger, validator);
  return {
    ...ofLicense(ledger, validator),
    choice: 'ValidatorLicense_UpdateMetadata',
    argument: { version: '0.5.1', contactPoint: contactPoint(validator) },
    result: { licenseCid: license.contractId },
    children: [license],
  };
}

export function reportActive(ledger: Ledger): ExerciseEvent {
  const validator = ledger.party();
  const license = renewed(ledger, validator);
  return {
    ...ofLicense(ledger, validator),
    choice: 'ValidatorLicense_ReportActive',
    argument: {},
    result: { licenseCid: license.contractId },
    children: [license],
  };
}

function ofLicense(
  ledger: Ledger,
  validator: string,
): Pick<ExerciseEvent, 'template' | 'contractId' | 'consuming' | 'actors'> {
  return { template: LICENSE, contractId: ledger.contractId(), consuming: true, actors: [validator] };
}

/** Each of these choices replaces the license. */
function renewed(ledger: Ledger, validator: string): CreateEvent {
  const faucetState = {
    firstReceivedFor: { number: '0' },
    lastReceivedFor: round(ledger, 1),
    numCouponsMissed: String(ledger.random.below(100)),
  };
  const metadata = { lastUpdatedAt: ledger.time(), version: '0.5.1', contactPoint: contactPoint(validator) };
  const sponsor = ledger.random.pick(ledger.superValidators);
  const payload = { validator, sponsor, faucetState, metadata, lastActiveAt: ledger.time() };
  return created(ledger, LICENSE, payload, [validator]);
}

function contactPoint(validator: string): string {
  return `operations@${validator.slice(validator.length - 8)}.example`;
}

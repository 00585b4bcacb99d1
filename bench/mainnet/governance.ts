import { archived, created, ofDsoRules } from './contract.ts';
import type { ExerciseEvent } from './event.ts';
import type { Ledger } from './ledger.ts';
import { round } from './rounds.ts';

const NODE_STATE = 'Splice.DSO.SvState:SvNodeState';
const STATUS_REPORT = 'Splice.DSO.SvState:SvStatusReport';
const CONFIRMATION = 'Splice.DsoRules:Confirmation';
const HOUR_SECONDS = 3_600;

export function expireStaleConfirmation(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const staleConfirmationCid = ledger.contractId();
  const choice = 'DsoRules_ExpireStaleConfirmation';
  const expired = archived(CONFIRMATION, staleConfirmationCid, ledger.dso, 'Confirmation_Expire');
  const argument = { staleConfirmationCid, sv };
  return ofDsoRules(ledger, { choice, argument, result: `${choice}Result`, actor: sv, children: [expired] });
}

export function confirmAction(ledger: Ledger): ExerciseEvent {
  const confirmer = ledger.random.pick(ledger.superValidators);
  const amuletRulesAction = ledger.random.chance(0.5) ? startIssuing(ledger) : archiveRound(ledger);
  const action = { tag: 'ARC_AmuletRules', value: { amuletRulesAction } };
  const confirmation = created(ledger, CONFIRMATION, { confirmer, action, expiresAt: ledger.time(HOUR_SECONDS) });
  return ofDsoRules(ledger, {
    choice: 'DsoRules_ConfirmAction',
    argument: { confirmer, action },
    result: { confirmation: confirmation.contractId },
    actor: confirmer,
    children: [confirmation],
  });
}

function startIssuing(ledger: Ledger): object {
  const summary = {
    totalValidatorRewardCoupons: ledger.decimal(5),
    totalFeaturedAppRewardCoupons: ledger.decimal(5),
    totalUnfeaturedAppRewardCoupons: '0E-10',
    totalSvRewardWeight: String(1_000_000 + ledger.random.below(2_000_000)),
    optTotalValidatorFaucetCoupons: String(ledger.random.below(1_000)),
  };
  return { tag: 'CRARC_MiningRound_StartIssuing', value: { miningRoundCid: ledger.contractId(), summary } };
}

function archiveRound(ledger: Ledger): object {
  return { tag: 'CRARC_MiningRound_Archive', value: { closedRoundCid: ledger.contractId() } };
}

export function setNodeConfig(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const nodeStateCid = ledger.contractId();
  const config = nodeConfig(ledger, sv);
  const state = { synchronizerNodes: [[ledger.synchronizerId, config]] };
  const next = created(ledger, NODE_STATE, { sv, svName: nameOf(sv), state });
  return ofDsoRules(ledger, {
    choice: 'DsoRules_SetSynchronizerNodeConfig',
    argument: { sv, synchronizerId: ledger.synchronizerId, newNodeConfig: config, nodeStateCid },
    result: { svNodeState: next.contractId },
    actor: sv,
    children: [archived(NODE_STATE, nodeStateCid, ledger.dso), next],
  });
}

function nodeConfig(ledger: Ledger, sv: string): object {
  const host = `sv-${ledger.superValidators.indexOf(sv)}.global.canton.network.example.com`;
  const sequencer = (migration: number): object => {
    const about = { migrationId: String(migration), sequencerId: `SEQ::${sv}` };
    return { ...about, url: `https://sequencer-${migration}.${host}` };
  };
  return {
    cometBft: {
      nodes: [[ledger.random.hex(40), { validatorPubKey: ledger.key(), votingPower: '1' }]],
      governanceKeys: [{ pubKey: ledger.key() }],
      sequencingKeys: [],
    },
    sequencer: { ...sequencer(4), availableAfter: null },
    mediator: { mediatorId: `MED::${sv}` },
    scan: { publicUrl: `https://scan.${host}` },
    legacySequencerConfig: sequencer(3),
  };
}

export function submitStatusReport(ledger: Ledger): ExerciseEvent {
  const sv = ledger.random.pick(ledger.superValidators);
  const previousReportCid = ledger.contractId();
  const status = {
    createdAt: ledger.time(),
    cometBftHeight: String(10_000 + ledger.random.below(80_000)),
    mediatorSynchronizerTime: ledger.time(-1),
    participantSynchronizerTime: ledger.time(-1),
    latestOpenRound: round(ledger, 0),
  };
  const number = String(100_000 + ledger.random.below(800_000));
  const report = created(ledger, STATUS_REPORT, { sv, svName: nameOf(sv), number, status });
  return ofDsoRules(ledger, {
    choice: 'DsoRules_SubmitStatusReport',
    argument: { sv, previousReportCid, status },
    result: { newReport: report.contractId },
    actor: sv,
    children: [archived(STATUS_REPORT, previousReportCid, ledger.dso), report],
  });
}

export function nameOf(party: string): string {
  return party.slice(0, party.indexOf('::'));
}

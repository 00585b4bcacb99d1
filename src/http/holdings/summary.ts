import { fitsNumeric, formatAmount } from '../../ledger/amount.ts';
import { formatTime } from '../../ledger/time.ts';
import type { Snapshot, UnlockedLocked, ViewsReader } from '../../views/read/types.ts';
import { HttpFault } from '../server/http-fault.ts';
import { int64Json } from '../server/lossless-json.ts';
import type { SummaryQuery } from './requests.ts';
import { findSnapshot } from './snapshots.ts';

/** How summaries are answered, from the settings. */
export interface AnswerRules {
  /** Whether an owner without coin is answered with zeros or left out. */
  readonly emptyOwners: 'zero' | 'omit';
}

export interface OwnerTotals {
  readonly party_id: string;
  readonly total_unlocked_coin: string;
  readonly total_locked_coin: string;
  readonly total_coin_holdings: string;
}

export interface OwnerTotalsAndFees extends OwnerTotals {
  readonly accumulated_holding_fees_unlocked: string;
  readonly accumulated_holding_fees_locked: string;
  readonly accumulated_holding_fees_total: string;
  readonly total_available_coin: string;
}

export interface SummaryV1 {
  readonly record_time: string;
  readonly migration_id: number;
  readonly summaries: readonly OwnerTotals[];
}

export interface SummaryV0 {
  readonly record_time: string;
  readonly migration_id: number;
  /** An int64: a number, or the raw JSON of one that no double holds. */
  readonly computed_as_of_round: unknown;
  readonly summaries: readonly OwnerTotalsAndFees[];
}

export function answerSummaryV1(views: ViewsReader, query: SummaryQuery, rules: AnswerRules): SummaryV1 {
  return summaryWithoutFees(views, findSnapshot(views, query), query.owners, rules);
}

/** Throws a 400 where no round is asked for and none is open. */
export function answerSummaryV0(views: ViewsReader, query: SummaryQuery, rules: AnswerRules): SummaryV0 {
  const snapshot = findSnapshot(views, query);
  const round = query.asOfRound ?? views.lowestOpenRound();
  if (round === null) throw new HttpFault(400, 'No open mining rounds found.');
  return summaryWithFees(views, { snapshot, owners: query.owners, round }, rules);
}

export function summaryWithoutFees(
  views: ViewsReader,
  snapshot: Snapshot,
  owners: readonly string[],
  rules: AnswerRules,
): SummaryV1 {
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    summaries: answeredOwners(views, snapshot, owners, rules).map((party) =>
      ownerTotals(party, views.totals(snapshot, party)),
    ),
  };
}

export function summaryWithFees(
  views: ViewsReader,
  { snapshot, owners, round }: { snapshot: Snapshot; owners: readonly string[]; round: bigint },
  rules: AnswerRules,
): SummaryV0 {
  return {
    record_time: formatTime(snapshot.recordTime),
    migration_id: snapshot.migrationId,
    computed_as_of_round: int64Json(round),
    summaries: answeredOwners(views, snapshot, owners, rules).map((party) => {
      const totals = views.totals(snapshot, party);
      return ownerTotalsAndFees(party, totals, views.fees(snapshot, party, round));
    }),
  };
}

function answeredOwners(
  views: ViewsReader,
  snapshot: Snapshot,
  owners: readonly string[],
  { emptyOwners }: AnswerRules,
): readonly string[] {
  return emptyOwners === 'zero' ? owners : owners.filter((party) => views.holds(snapshot, party));
}

function ownerTotals(party: string, { unlocked, locked }: UnlockedLocked): OwnerTotals {
  return {
    party_id: party,
    total_unlocked_coin: numeric(party, unlocked),
    total_locked_coin: numeric(party, locked),
    total_coin_holdings: numeric(party, unlocked + locked),
  };
}

function ownerTotalsAndFees(party: string, totals: UnlockedLocked, fees: UnlockedLocked): OwnerTotalsAndFees {
  return {
    ...ownerTotals(party, totals),
    accumulated_holding_fees_unlocked: numeric(party, fees.unlocked),
    accumulated_holding_fees_locked: numeric(party, fees.locked),
    accumulated_holding_fees_total: numeric(party, fees.unlocked + fees.locked),
    total_available_coin: numeric(party, totals.unlocked - fees.unlocked),
  };
}

/** Clients read these as Numeric(10) with 38 digits; a sum, or a fee of a round far off, may need more. */
function numeric(party: string, units: bigint): string {
  if (fitsNumeric(units)) return formatAmount(units);
  throw new HttpFault(
    400,
    `a total or fee of ${party} does not fit a Numeric(10) of 38 digits: ${formatAmount(units)}`,
  );
}

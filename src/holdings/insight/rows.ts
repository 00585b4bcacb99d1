import { formatAmount } from '../../ledger/amount.ts';
import { formatTime } from '../../ledger/time.ts';
import type { OwnerFacts } from '../facts.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Change, PartyTotals, RankedBy, Totals } from './facts.ts';

/** The rows of tables, their fields in order. Their amounts may have any number of digits. */

export type Row = Readonly<Record<string, unknown>>;

export const SNAPSHOT_COLUMNS = [
  'record_time',
  'forced',
  'owners',
  'contracts',
  'total_unlocked_coin',
  'total_locked_coin',
  'total_coin',
  'changes_digest',
  'digest',
] as const;

export function snapshotRow(snapshot: Snapshot): Row {
  const { recordTime, forced, owners, contracts, unlocked, locked, changesDigest, digest } = snapshot;
  return {
    record_time: formatTime(recordTime),
    forced,
    owners,
    contracts,
    total_unlocked_coin: formatAmount(unlocked),
    total_locked_coin: formatAmount(locked),
    total_coin: formatAmount(unlocked + locked),
    changes_digest: changesDigest,
    digest,
  };
}

/** Of snapshots of all migrations, as the command line lists them. */
export const LISTED_COLUMNS = [
  'migration_id',
  'record_time',
  'contracts',
  'owners',
  'total_unlocked_coin',
  'total_locked_coin',
  'forced',
  'total_coin',
  'changes_digest',
  'digest',
] as const;

export function listedRow(snapshot: Snapshot): Row {
  const row: Row = { migration_id: snapshot.migrationId, ...snapshotRow(snapshot) };
  return Object.fromEntries(LISTED_COLUMNS.map((name) => [name, row[name]]));
}

const TOTALS_COLUMNS = ['total_unlocked_coin', 'total_locked_coin', 'total_coin_holdings'] as const;

function totalsFields({ unlocked, locked }: Totals): Row {
  return {
    total_unlocked_coin: formatAmount(unlocked),
    total_locked_coin: formatAmount(locked),
    total_coin_holdings: formatAmount(unlocked + locked),
  };
}

export const OWNER_COLUMNS = ['party_id', ...TOTALS_COLUMNS, 'contracts'] as const;

export function ownerRow(owner: PartyTotals): Row {
  return { party_id: owner.party, ...totalsFields(owner), contracts: owner.contracts };
}

export const POINT_COLUMNS = ['record_time', ...TOTALS_COLUMNS, 'contracts'] as const;

export function pointRow(recordTime: number, totals: Totals): Row {
  return { record_time: formatTime(recordTime), ...totalsFields(totals), contracts: totals.contracts };
}

export const HISTORY_COLUMNS = [...POINT_COLUMNS, 'partial'] as const;

/** A point that is off the step. */
export function partialPointRow(recordTime: number, { unlocked, locked }: OwnerFacts): Row {
  const contracts = unlocked.count + locked.count;
  return { ...pointRow(recordTime, { unlocked: unlocked.amount, locked: locked.amount, contracts }), partial: true };
}

export const CHANGE_COLUMNS = [...POINT_COLUMNS, 'change_unlocked_coin', 'change_locked_coin'] as const;

export function changeRow({ recordTime, before, after }: Change): Row {
  return {
    ...pointRow(recordTime, after),
    change_unlocked_coin: formatAmount(after.unlocked - before.unlocked),
    change_locked_coin: formatAmount(after.locked - before.locked),
  };
}

export const RANKED_COLUMNS = ['rank', 'party_id', ...TOTALS_COLUMNS, 'share'] as const;

export function rankedRow(
  owner: PartyTotals,
  { rank, by, supply }: { readonly rank: number; readonly by: RankedBy; readonly supply: bigint },
): Row {
  const ordered = by === 'total' ? owner.unlocked + owner.locked : owner[by];
  return { rank, party_id: owner.party, ...totalsFields(owner), share: share(ordered, supply) };
}

/** One in units of 1e-10, as amounts are. */
const WHOLE = 10n ** 10n;

/** A part of a whole with ten decimals, rounded half up; 0 of nothing. */
function share(part: bigint, whole: bigint): string {
  return formatAmount(whole === 0n ? 0n : (2n * part * WHOLE + whole) / (2n * whole));
}

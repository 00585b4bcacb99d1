import { formatAmount } from '../ledger/amount.ts';
import { formatTime, type Micros } from '../ledger/time.ts';
import { showGiven } from '../show-given.ts';
import type { HoldingsStore } from './facts.ts';
import { HoldingsFault } from './holdings-fault.ts';
import { type Amounts, type Movement, movementKind, type UpdateHistory } from './movement-facts.ts';
import { type MovementsQuery, type PageStart, pageOf } from './table-question.ts';
import type { Row, Table } from './table-rows.ts';

/** What moved of an owner, update by update. Rejects with a HoldingsFault. */
export async function movementsTable(query: MovementsQuery, store: HoldingsStore): Promise<Table> {
  const { party, order: given, kind, limit, after } = query;
  const order = given ?? 'desc';
  const history = await findHistory(store, after?.migrationId ?? query.migration_id);
  const { migrationId } = history;
  const page = after === null ? null : placeOf(after, history);
  const { from, to, fixed } = countedRange(history, query, after);
  const untilNo = page?.untilNo ?? history.lastUpdateNo;
  const about = { migrationId, party, from, to, kinds: kind, order, after: page?.no ?? null, untilNo } as const;
  const found = from > to ? [] : await store.facts({ kind: 'movements', ...about, rows: limit + 1 });
  const nameOf = ({ updateNo }: Movement): string => `${updateNo} ${untilNo}`;
  const { rows, next } = pageOf(found, { table: 'movements', query, migrationId, snapshot: to }, nameOf);
  return {
    head: { migration_id: migrationId, party_id: party, ...movementsSince(history) },
    rowsName: 'movements',
    columns: MOVEMENT_COLUMNS,
    rows: rows.map(movementRow),
    next,
    fixed,
    about: [party, `migration ${migrationId}`],
  };
}

export const movementsSince = ({ movementsSince: time }: Pick<UpdateHistory, 'movementsSince'>): Row => ({
  movements_since: time === null ? null : formatTime(time),
});

/** The migration of a question: the newest with an update that is no import, unless one is named. */
export async function findHistory(store: HoldingsStore, migrationId: bigint | null): Promise<UpdateHistory> {
  const history = await store.facts({ kind: 'update history', migrationId });
  if (history !== null) return history;
  const where = migrationId === null ? '' : ` in migration ${migrationId}`;
  throw new HoldingsFault('no_update', `No updates applied${where}`);
}

interface CountedRange {
  readonly from: Micros;
  readonly to: Micros;
  /** Whether the same request will always have the same answer. */
  readonly fixed: boolean;
}

/** The counted times of a question within those of its migration, both inclusive; `from` is after `to` where none are left. */
export function countedRange(
  history: UpdateHistory,
  query: Readonly<Record<'migration_id' | 'from' | 'to', bigint | null>>,
  after: PageStart | null = null,
): CountedRange {
  const { begin, appliedTo, sealedTo } = history;
  if (query.from !== null) requireKept(history, 'from', query.from);
  const fixed = query.migration_id !== null && query.to !== null && query.to <= BigInt(sealedTo ?? -1);
  // A time that a double cannot represent exactly is far after those of updates.
  return {
    from: Math.max(history.movementsSince ?? begin, Number(query.from ?? begin)),
    to: Math.min(appliedTo, Number(after?.snapshot ?? query.to ?? appliedTo)),
    fixed,
  };
}

/** Throws the fault of a time from before movements were kept. */
export function requireKept({ movementsSince: since }: UpdateHistory, name: string, time: bigint): void {
  if (since === null || time >= BigInt(since)) return;
  const kept = `a time from ${formatTime(since)} on: movements are kept from there on`;
  throw new HoldingsFault('no_such_time', `${name}: given ${formatTime(time)}, expected ${kept}`);
}

/** Where a page goes on: behind an update, and up to the last one that was applied when the first page was made. */
function placeOf(
  { last }: PageStart,
  { lastUpdateNo }: UpdateHistory,
): { readonly no: number; readonly untilNo: number } {
  const [no = Number.NaN, untilNo = Number.NaN] = /^\d{1,15} \d{1,15}$/.test(last) ? last.split(' ').map(Number) : [];
  if (no <= untilNo && untilNo <= lastUpdateNo) return { no, untilNo };
  const expected = 'a next_page_token of a page of these views';
  throw new HoldingsFault('unknown_token', `after: given a token behind ${showGiven(last)}, expected ${expected}`);
}

export function movementRow({ change, after, ...movement }: Movement): Row {
  const { supplyChange, others, legs } = movement;
  return {
    record_time: formatTime(movement.recordTime),
    counted_at: formatTime(movement.countedAt),
    update_id: movement.updateId,
    kind: movementKind(change),
    change_unlocked: formatAmount(change.unlocked),
    change_locked: formatAmount(change.locked),
    change_total: formatAmount(change.unlocked + change.locked),
    ...balanceFields(after),
    others: others.map((other) => ({ party_id: other.party, change_total: formatAmount(other.change) })),
    others_count: movement.othersCount,
    minted: supplyChange === null ? null : formatAmount(supplyChange > 0n ? supplyChange : 0n),
    burned: supplyChange === null ? null : formatAmount(supplyChange < 0n ? -supplyChange : 0n),
    legs: legs?.map((leg) => ({ ...leg, amount: formatAmount(leg.amount) })) ?? null,
  };
}

export function balanceFields({ unlocked, locked }: Amounts): Row {
  return { unlocked: formatAmount(unlocked), locked: formatAmount(locked), total: formatAmount(unlocked + locked) };
}

const NOTHING: Movement = {
  ...{ updateNo: 0, recordTime: 0, countedAt: 0, updateId: '', party: '', others: [], othersCount: 0, legs: null },
  change: { unlocked: 0n, locked: 0n },
  after: { unlocked: 0n, locked: 0n },
  supplyChange: 0n,
};

export const MOVEMENT_COLUMNS = Object.keys(movementRow(NOTHING));

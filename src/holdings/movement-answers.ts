import { formatAmount } from '../ledger/amount.ts';
import { formatPeriodLength } from '../ledger/duration.ts';
import { formatTime } from '../ledger/time.ts';
import type { HoldingsStore } from './facts.ts';
import { HoldingsFault, unknownToken } from './holdings-fault.ts';
import type { InstrumentName } from './instrument.ts';
import { instrumentIn, requireInstrument } from './instrument-answers.ts';
import {
  type Movement,
  type MovementPlace,
  movementKind,
  type OwnersMovement,
  type Period,
  type TimesBetween,
  type UpdateHistory,
} from './movement-facts.ts';
import { DAY_US, periodEnds } from './statement.ts';
import { type PageStart, pageOf, type TableQuery, type TableQuestion } from './table-question.ts';
import { accountFields, instrumentFields, type Row, type Table, totalsFields } from './table-rows.ts';

/** What moved of an owner, or of all owners, update by update. Rejects with a HoldingsFault. */
export async function movementsTable(
  { table, query }: Extract<TableQuestion, { table: 'movements' | 'all movements' }>,
  store: HoldingsStore,
): Promise<Table> {
  const { limit, after } = query;
  const { party, kind, order, min }: Partial<TableQuery<'movements'> & TableQuery<'all movements'>> = query;
  const instrument = instrumentIn(query);
  const history = await findHistory(store, after?.migrationId ?? query.migration_id, instrument);
  const { migrationId } = history;
  const { from, to, fixed } = countedRange(history, query, after);
  const page = placeOf(after, history, fixed);
  const about = { party: party ?? null, kinds: kind ?? null, min: min ?? 0n, order: order ?? 'desc' };
  const lookup = { kind: 'movements', migrationId, instrument, from, to, ...about, rows: limit + 1 } as const;
  const found = from > to ? [] : await store.facts({ ...lookup, after: page.after, untilNo: page.untilNo });
  const { rows, next } = pageOf(found, { table, query, migrationId, snapshot: to }, page.nameOf);
  const isOfAll = party === undefined;
  return {
    head: { migration_id: migrationId, ...(!isOfAll && { party_id: party }), ...movementsSince(history) },
    rowsName: 'movements',
    rows: rows.map((movement) => ({ ...(isOfAll && { party_id: movement.party || null }), ...movementRow(movement) })),
    csvWithout: instrument === undefined ? ['provider', 'account_id'] : [],
    next,
    fixed,
    about: [...(isOfAll ? [] : [party]), `migration ${migrationId}`],
  };
}

/** What an owner received and sent in periods of time, and had at their ends. Rejects with a HoldingsFault. */
export async function statementTable(query: TableQuery<'statement'>, store: HoldingsStore): Promise<Table> {
  const { party } = query;
  const every = query.every ?? DAY_US;
  const instrument = instrumentIn(query);
  const history = await findHistory(store, query.migration_id, instrument);
  const { migrationId, lastUpdateNo: untilNo } = history;
  const { fixed, ...range } = countedRange(history, query);
  const ends = periodEnds(range, every);
  const lookup = { kind: 'statement', migrationId, instrument, party, from: range.from, ends, untilNo } as const;
  const periods = ends.length === 0 ? [] : await store.facts(lookup);
  const length = formatPeriodLength(every);
  return {
    head: { migration_id: migrationId, party_id: party, ...movementsSince(history), every: length },
    rowsName: 'periods',
    rows: periods.map(periodRow),
    fixed,
    about: [party, `migration ${migrationId}`, `every ${length}`],
  };
}

/** What has an id on the ledger. */
export async function foundTable({ id }: TableQuery<'found'>, store: HoldingsStore): Promise<Table> {
  const found = await store.facts({ kind: 'found', id });
  const rows = found.map(({ kind, migrationId, recordTime, snapshot, party, instrument, ...of }) => ({
    ...{ kind, migration_id: migrationId, record_time: formatTime(recordTime) },
    ...{ snapshot: snapshot === null ? null : formatTime(snapshot), party_id: party || null },
    ...instrumentFields({ instrument }),
    ...accountFields(of),
    ...totalsFields(of),
  }));
  return { head: { id }, rowsName: 'found', rows, fixed: false, about: [id] };
}

export const movementsSince = ({ movementsSince: time }: Pick<UpdateHistory, 'movementsSince'>): Row => ({
  movements_since: time === null ? null : formatTime(time),
});

/** The migration of a question: the newest with an update that is no import, unless one is named. */
export async function findHistory(
  store: HoldingsStore,
  migrationId: bigint | null,
  instrument: InstrumentName | undefined,
): Promise<UpdateHistory> {
  const history = await store.facts({ kind: 'update history', migrationId });
  if (history !== null) {
    if (instrument !== undefined) await requireInstrument(store, history.migrationId, instrument);
    return history;
  }
  const where = migrationId === null ? '' : ` in migration ${migrationId}`;
  throw new HoldingsFault('no_update', `No updates applied${where}`);
}

interface CountedRange extends TimesBetween {
  /** Whether the same request will always have the same answer. */
  readonly fixed: boolean;
}

/** The counted times of a question within those of its migration, both inclusive; `from` is after `to` where none are left. */
function countedRange(
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

const PAGE_END = /^([0-9a-f-]{1,64}) (\d{1,15}) (\d{1,9}) (\d{0,15})$/;

/**
 * Where a page goes on: behind a movement, and up to the last update that was applied when the first page was made. A range that is
 * fixed gets no later one, and its answer does not depend on that. `nameOf`: where the next page does.
 */
function placeOf(page: PageStart | null, { lastUpdateNo, store }: UpdateHistory, fixed: boolean) {
  const nameIn =
    (until: string) =>
    ({ updateNo, place }: MovementPlace) =>
      `${store} ${updateNo} ${place} ${until}`;
  if (page === null) return { after: null, untilNo: lastUpdateNo, nameOf: nameIn(fixed ? '' : String(lastUpdateNo)) };
  const [, of, updateNo, place, until = ''] = PAGE_END.exec(page.last) ?? [];
  const after = { updateNo: Number(updateNo), place: Number(place) };
  const untilNo = Number(until || lastUpdateNo);
  if (of === store && after.updateNo <= untilNo && untilNo <= lastUpdateNo)
    return { after, untilNo, nameOf: nameIn(until) };
  throw unknownToken(page);
}

function movementRow({ change, after, ...movement }: Movement): Row {
  const { supplyChange, others, legs } = movement;
  return {
    record_time: formatTime(movement.recordTime),
    counted_at: formatTime(movement.countedAt),
    update_id: movement.updateId,
    ...accountFields(movement.account),
    kind: movementKind(change),
    change_unlocked: formatAmount(change.unlocked),
    change_locked: formatAmount(change.locked),
    change_total: formatAmount(change.unlocked + change.locked),
    ...totalsFields(after),
    others: others.map((other) => ({
      party_id: other.party || null,
      ...accountFields(other.account),
      change_total: formatAmount(other.change),
    })),
    others_count: movement.othersCount,
    minted: supplyChange === null ? null : formatAmount(supplyChange > 0n ? supplyChange : 0n),
    burned: supplyChange === null ? null : formatAmount(supplyChange < 0n ? -supplyChange : 0n),
    legs,
  };
}

/** The data of a movement's event. */
export function movementEvent(movement: OwnersMovement): Row {
  const { migrationId, party } = movement;
  return { migration_id: migrationId, party_id: party, ...instrumentFields(movement), ...movementRow(movement) };
}

function periodRow(period: Period): Row {
  const { opening, received, sent, lockedChange, closing, movements, average, minted, burned } = period;
  return {
    from: formatTime(period.from),
    to: formatTime(period.to),
    opening: formatAmount(opening),
    received: formatAmount(received),
    sent: formatAmount(sent),
    locked_change: formatAmount(lockedChange),
    closing: formatAmount(closing),
    movements,
    average_total: formatAmount(average),
    minted: minted === null ? null : formatAmount(minted),
    burned: burned === null ? null : formatAmount(burned),
  };
}

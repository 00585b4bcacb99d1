import {
  type Change,
  type ChangesFacts,
  type ChangesLookup,
  NO_COIN,
  type Order,
  sameTotals,
  type Totals,
} from '../../holdings/facts.ts';
import type { SealedGrid } from './grid.ts';
import type { Version, VersionReader } from './versions.ts';

/** An owner's totals from a snapshot of the grid on. */
interface State {
  readonly recordTime: number;
  readonly totals: Totals;
}

/** Reads an owner's changes: its versions in the range, and one before it. */
export function readChanges(
  versions: VersionReader,
  owner: number,
  { from, to, order, rows, grid }: ChangesLookup & { readonly grid: SealedGrid },
): ChangesFacts {
  const seqBefore = grid.seqBefore(from);
  const before = versions.at(owner, seqBefore)?.totals ?? NO_COIN;
  const inRange = versions.between(owner, { from: seqBefore + 1, to: grid.seqAt(to) }, order);
  const states = statesInGrid(inRange, grid, order);
  const changes = order === 'asc' ? forward(states, before) : backward(states, before);
  return { before, changes: rows === Infinity ? [...changes] : changes.take(rows).toArray() };
}

/**
 * The same for a range of a few snapshots: the version at each change, and none in between, so that forced snapshots cost
 * nothing.
 */
export function changesBetween(
  versions: VersionReader,
  owner: number,
  { from, to, grid }: Pick<ChangesLookup, 'from' | 'to'> & { readonly grid: SealedGrid },
): Change[] {
  const changes: Change[] = [];
  const seqBefore = grid.seqBefore(from);
  for (let version = versions.at(owner, grid.seqAt(to)); version !== null && version.seq > seqBefore; ) {
    const recordTime = grid.find(version.seq)!.time;
    const before = versions.at(owner, grid.seqBefore(recordTime));
    const change = { recordTime, before: before?.totals ?? NO_COIN, after: version.totals };
    if (!sameTotals(change.before, change.after)) changes.unshift(change);
    version = before;
  }
  return changes;
}

/** What is left of an interval's versions, and of those of forced snapshots in it, at the snapshot of the grid that ends it. */
function* statesInGrid(versions: Iterable<Version>, grid: SealedGrid, order: Order): Generator<State> {
  let held = null as State | null;
  for (const { seq, totals } of versions) {
    const recordTime: number = grid.find(seq)!.time;
    if (held?.recordTime === recordTime && order === 'desc') continue;
    if (held !== null && held.recordTime !== recordTime) yield held;
    held = { recordTime, totals };
  }
  if (held !== null) yield held;
}

function* forward(states: Iterable<State>, start: Totals): Generator<Change> {
  let before = start;
  for (const { recordTime, totals: after } of states) {
    if (!sameTotals(before, after)) yield { recordTime, before, after };
    before = after;
  }
}

function* backward(states: Iterable<State>, start: Totals): Generator<Change> {
  let later = null as State | null;
  for (const state of states) {
    if (later !== null && !sameTotals(state.totals, later.totals))
      yield { recordTime: later.recordTime, before: state.totals, after: later.totals };
    later = state;
  }
  if (later !== null && !sameTotals(start, later.totals))
    yield { recordTime: later.recordTime, before: start, after: later.totals };
}

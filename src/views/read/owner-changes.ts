import type { Change, ChangesFacts, ChangesLookup, Order, Totals } from '../../holdings/insight/facts.ts';
import type { SealedGrid } from './grid.ts';
import { NO_COIN, type Version, type VersionReader } from './versions.ts';

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
  const changes = changesOf(statesInGrid(inRange, { start: before, grid, order }), order);
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
    if (!areEqual(change.before, change.after)) changes.unshift(change);
    version = before;
  }
  return changes;
}

/**
 * What is left of an interval's versions, and of those of forced snapshots in it, at the snapshot of the grid that ends it; in
 * either order, with what was before all of them, whose time does not matter.
 */
function* statesInGrid(
  versions: Iterable<Version>,
  { start, grid, order }: { start: Totals; grid: SealedGrid; order: Order },
): Generator<State> {
  const before: State = { recordTime: 0, totals: start };
  if (order === 'asc') yield before;
  let held = null as State | null;
  for (const { seq, totals } of versions) {
    const recordTime: number = grid.find(seq)!.time;
    if (held?.recordTime === recordTime && order === 'desc') continue;
    if (held !== null && held.recordTime !== recordTime) yield held;
    held = { recordTime, totals };
  }
  if (held !== null) yield held;
  if (order === 'desc') yield before;
}

/** Where a state differs from the one before it. */
function* changesOf(states: Iterable<State>, order: Order): Generator<Change> {
  let last: State | null = null;
  for (const state of states) {
    const [before, after] = order === 'asc' ? [last, state] : [state, last];
    if (before !== null && after !== null && !areEqual(before.totals, after.totals))
      yield { recordTime: after.recordTime, before: before.totals, after: after.totals };
    last = state;
  }
}

function areEqual(a: Totals, b: Totals): boolean {
  return a.unlocked === b.unlocked && a.locked === b.locked && a.contracts === b.contracts;
}

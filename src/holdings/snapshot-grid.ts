import { formatDuration } from '../ledger/duration.ts';
import type { Micros } from '../ledger/time.ts';
import type { SealedMigration } from './facts.ts';
import { HoldingsFault } from './holdings-fault.ts';

/** Times from `from` to `to`, `step` apart, all of them multiples of it. */
export interface Grid {
  readonly from: Micros;
  readonly to: Micros;
  readonly step: number;
}

/**
 * The snapshots of a migration that the feed's time has sealed. They follow each other without a gap (docs/rules.md,
 * rule 3), so their times are known from the first and the last; forced ones may be before, between and after them.
 */
export function gridOf({ oldest, newest, periodUs }: SealedMigration): Grid {
  return multiplesWithin({ from: oldest.recordTime, to: newest.recordTime }, periodUs);
}

/** The multiples of `step` in a range; `from` is after `to` where there are none. */
export function multiplesWithin({ from, to }: { readonly from: Micros; readonly to: Micros }, step: number): Grid {
  return { from: Math.ceil(from / step) * step, to: Math.floor(to / step) * step, step };
}

export function countOf({ from, to, step }: Grid): number {
  return Math.max(0, (to - from) / step + 1);
}

/** The most points of a history: with the default distance between them, and with one that was given. */
const POINTS_DEFAULT_MAX = 1_000;
const POINTS_MAX = 5_000;
/** Periods between two points: of the default period 10 minutes, an hour, 6 hours, a day and a week. */
const USUAL_PERIODS = [1, 6, 36, 144, 1008];

/** Throws the fault of a distance that is no multiple of the snapshot period. */
export function requireMultiple(every: number, periodUs: number): void {
  if (every % periodUs === 0) return;
  const expected = `a multiple of the snapshot period, ${formatDuration(periodUs)}`;
  throw new HoldingsFault('wrong_parameter', `every: given ${formatDuration(every)}, expected ${expected}`);
}

/** The snapshots that a history is of. */
interface HistoryRange extends Grid {
  /** The last snapshot, which may be forced; null where there is none. */
  readonly last: Micros | null;
}

/** The points of a history that are `every` apart, or at the default distance. The last snapshot may be one more. */
export function pointsOver(range: HistoryRange, every: number | null): Grid {
  const points = multiplesWithin(range, every ?? defaultEvery(range));
  const count = pointCount(range, points.step);
  if (count <= POINTS_MAX) return points;
  const fitting = formatDuration(smallestStep(range, { unit: range.step, max: POINTS_MAX }));
  throw new HoldingsFault(
    'wrong_parameter',
    `every: given ${formatDuration(points.step)}, which makes ${count} points, expected at least ${fitting} for at most ${POINTS_MAX}`,
  );
}

/** Whether the last snapshot is between two points, and so one more. */
export function isPartial(last: Micros | null, { step }: Pick<Grid, 'step'>): last is Micros {
  return last !== null && last % step !== 0;
}

function pointCount(range: HistoryRange, step: number): number {
  return countOf(multiplesWithin(range, step)) + (isPartial(range.last, { step }) ? 1 : 0);
}

function defaultEvery(range: HistoryRange): number {
  const usual = USUAL_PERIODS.map((periods) => periods * range.step);
  const fits = (step: number): boolean => pointCount(range, step) <= POINTS_DEFAULT_MAX;
  return usual.find(fits) ?? smallestStep(range, { unit: usual.at(-1)!, max: POINTS_DEFAULT_MAX });
}

/** The smallest multiple of a unit that gives at most so many points. */
function smallestStep(range: HistoryRange, { unit, max }: { readonly unit: number; readonly max: number }): number {
  // The number of points is at least the range divided by their distance, so a smaller distance cannot be enough.
  let step = unit * Math.max(1, Math.floor((range.to - range.from) / (unit * (max + 1))));
  while (pointCount(range, step) > max) step += unit;
  return step;
}

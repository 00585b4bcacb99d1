import { formatDuration } from '../../ledger/duration.ts';
import { HoldingsFault } from '../fault.ts';
import { countOf, type Grid, multiplesWithin } from './grid.ts';

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

/** The points of a history over the snapshots of a grid, `every` apart, or at the default distance. */
export function pointsOver(grid: Grid, every: number | null): Grid {
  const points = multiplesWithin(grid, every ?? defaultEvery(grid));
  if (countOf(points) <= POINTS_MAX) return points;
  const fitting = formatDuration(smallestStep(grid, { unit: grid.step, max: POINTS_MAX }));
  throw new HoldingsFault(
    'wrong_parameter',
    `every: given ${formatDuration(points.step)}, which makes ${countOf(points)} points, expected at least ${fitting} for at most ${POINTS_MAX}`,
  );
}

function defaultEvery(grid: Grid): number {
  const usual = USUAL_PERIODS.map((periods) => periods * grid.step);
  const fits = (step: number): boolean => countOf(multiplesWithin(grid, step)) <= POINTS_DEFAULT_MAX;
  return usual.find(fits) ?? smallestStep(grid, { unit: usual.at(-1)!, max: POINTS_DEFAULT_MAX });
}

/** The smallest multiple of a unit that gives at most so many points. */
function smallestStep(grid: Grid, { unit, max }: { readonly unit: number; readonly max: number }): number {
  // The number of points is at least the range divided by their distance, so a smaller distance cannot be enough.
  let step = unit * Math.max(1, Math.floor((grid.to - grid.from) / (unit * (max + 1))));
  while (countOf(multiplesWithin(grid, step)) > max) step += unit;
  return step;
}

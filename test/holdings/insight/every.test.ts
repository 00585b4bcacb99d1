import { describe, expect, test } from 'vitest';
import { countOf, type Grid, pointsOver, requireMultiple } from '../../../src/holdings/snapshot-grid.ts';
import { formatDuration, parseDuration } from '../../../src/ledger/duration.ts';

const PERIOD = 600_000_000;

/** So many snapshots, the last of them at a time that only the largest steps do not meet. */
const gridOf = (snapshots: number, step = PERIOD) => ({
  from: step,
  to: snapshots * step,
  step,
  last: snapshots * step,
});

/** The points at the steps, and the last snapshot where it is none of them. */
const pointsOf = (snapshots: number, points: Grid): number =>
  countOf(points) + ((snapshots * PERIOD) % points.step === 0 ? 0 : 1);

describe('the distance of the points of a history, unless it is given', () => {
  test.each([
    [1, '10m'],
    [1_000, '10m'],
    [1_001, '1h'],
    [6_000, '1h'],
    [6_001, '6h'],
    [36_000, '6h'],
    [36_001, '1d'],
    [144_000, '1d'],
    [144_001, '7d'],
    [1_008_000, '7d'],
    [1_008_001, '14d'],
    [2_016_001, '21d'],
    [10_000_000, '70d'],
  ])('over %i snapshots of 10 minutes is %s', (snapshots, every) => {
    const points = pointsOver(gridOf(snapshots), null);
    expect(formatDuration(points.step)).toBe(every);
    expect(pointsOf(snapshots, points)).toBeLessThanOrEqual(1_000);
  });

  test.each([
    [999, '10m'],
    [1_000, '1h'],
  ])('over %i snapshots and a forced one behind them is %s', (snapshots, every) => {
    const grid = gridOf(snapshots);
    expect(formatDuration(pointsOver({ ...grid, last: grid.to + 1 }, null).step)).toBe(every);
  });

  test('of other periods is the same number of them', () => {
    expect(formatDuration(pointsOver(gridOf(1_001, 1_000_000), null).step)).toBe('6s');
    expect(formatDuration(pointsOver(gridOf(5_000, 86_400_000_000), null).step)).toBe('6d');
  });
});

describe('a distance that makes too many points', () => {
  test.each([
    [5_000, '10m', null],
    [5_001, '10m', '20m'],
    [10_000, '10m', '20m'],
    [10_001, '10m', '30m'],
    [100_000, '1h', '200m'],
    [1_000_000, '10m', '2000m'],
  ])('over %i snapshots, %s, is refused with the smallest that fits: %s', (snapshots, every, fitting) => {
    const points = () => pointsOver(gridOf(snapshots), parseDuration(every));
    if (fitting === null) return expect(countOf(points())).toBe(5_000);
    expect(points).toThrow(`expected at least ${fitting} for at most 5000`);
    const least = parseDuration(fitting)!;
    expect(pointsOf(snapshots, pointsOver(gridOf(snapshots), least))).toBeLessThanOrEqual(5_000);
    expect(() => pointsOver(gridOf(snapshots), least - PERIOD)).toThrow('for at most 5000');
  });

  test('is no multiple of the period where it is none', () => {
    expect(() => requireMultiple(PERIOD * 3, PERIOD)).not.toThrow();
    expect(() => requireMultiple(PERIOD * 1.5, PERIOD)).toThrow(
      'every: given 15m, expected a multiple of the snapshot period, 10m',
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalOf, partsOf, percentOf, shortOf, ticksBetween } from '../src/data/decimal.ts';
import {
  CHANGE_STEPS,
  DAY_MS,
  durationMs,
  instant,
  POINTS_MAX,
  parseMoment,
  showDuration,
  showSpan,
  showTime,
  startOf,
  stepsFor,
} from '../src/data/time.ts';

/** Longer than any float is exact. */
const units = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });

describe('amounts', () => {
  it('are shown in parts that together are the amount', () => {
    fc.assert(
      fc.property(units.map(decimalOf), (amount) => {
        const { sign, groups, fraction, zeros, short } = partsOf(amount);
        expect(short).toBeGreaterThanOrEqual(3);
        expect([sign, ...groups, fraction, zeros].join('')).toBe(amount);
        expect(groups.slice(1).every((group) => group.length === 3)).toBe(true);
      }),
    );
  });

  it.each([
    ['309973960.4190139900', '', ['309', '973', '960'], '.41901399', '00', '.41'],
    ['-0.0000000000', '-', ['0'], '', '.0000000000', '.00'],
    ['4009', '', ['4', '009'], '', '', ''],
    ['0.0038051800', '', ['0'], '.00380518', '00', '.0038'],
    ['0.0000000001', '', ['0'], '.0000000001', '', '.0000000001'],
    ['7.0000000001', '', ['7'], '.0000000001', '', '.00'],
  ])('%s has its parts', (amount, sign, groups, fraction, zeros, shown) => {
    const { short, ...parts } = partsOf(amount);
    expect(parts).toEqual({ sign, groups, fraction, zeros });
    expect((fraction + zeros).slice(0, short)).toBe(shown);
  });

  it.each([
    ['1.0000000000', '3.0000000000', '33.33'],
    ['2.0000000000', '3.0000000000', '66.67'],
    ['0.0000500000', '1.0000000000', '0.01'],
    ['0.0000499999', '1.0000000000', '0.00'],
    ['0.0000000000', '0.0000000000', '0.00'],
  ])('%s of %s is %s percent, rounded half up', (part, whole, percent) => {
    expect(percentOf(part, whole)).toBe(percent);
  });
});

describe('the ticks of an axis', () => {
  it('reach the largest amount, are few, evenly apart, and named exactly', () => {
    const powers: Readonly<Record<string, number>> = { '': 0, k: 3, M: 6, B: 9, T: 12 };
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
        fc.bigInt({ min: 0n, max: 10n ** 38n }),
        (min, more) => {
          const ticks = ticksBetween(min, min + more);
          expect([ticks[0]! <= min, ticks.at(-1)! >= min + more]).toEqual([true, true]);
          expect(ticks.length).toBeLessThanOrEqual(7);
          expect(ticks).toEqual(ticks.map((_, index) => ticks[0]! + BigInt(index) * (ticks[1]! - ticks[0]!)));
          if (min < 0n && min + more > 0n) expect(ticks).toContain(0n);
          for (const tick of ticks) {
            const [, sign, digits = '', name = ''] = /^(-?)([\d.]+)([kMBT]?)$/.exec(shortOf(tick))!;
            const [whole = '', fraction = ''] = digits.split('.');
            expect(BigInt(sign + whole + fraction.padEnd(10 + powers[name]!, '0'))).toBe(tick);
          }
        },
      ),
    );
  });
});

describe('times', () => {
  it.each([
    ['2025-02-12T00:30:00Z', '2025-02-12 00:30'],
    ['2025-02-12T00:30:07Z', '2025-02-12 00:30:07'],
    ['2024-09-20T13:31:01.40518Z', '2024-09-20 13:31:01'],
  ])('%s is shown as %s', (time, shown) => {
    expect(showTime(time)).toBe(shown);
  });

  it.each([
    ['2025-02-12', '2025-02-12T00:00:00Z'],
    [' 2025-02-12 00:30 ', '2025-02-12T00:30:00Z'],
    ['2025-02-12T00:30:07Z', '2025-02-12T00:30:07Z'],
    ['2025-02-12 00:30 UTC', '2025-02-12T00:30:00Z'],
    ['-7d', '2025-02-22T01:10:00Z'],
    ['2025-02-31', '2025-03-03T00:00:00Z'],
    ['2025-13-01', null],
    ['aurora', null],
    ['', null],
  ])('a person who types %s means %s', (text, time) => {
    const found = parseMoment(text, '2025-03-01T01:10:00Z');
    expect(found === null ? null : instant(Date.parse(found))).toBe(time);
  });

  it.each([
    [1, '1 second'],
    [59.9, '59 seconds'],
    [60, '1 minute'],
    [7199, '1 hour'],
    [86_400 * 400, '400 days'],
    [-3, '0 seconds'],
  ])('%s seconds are %s', (seconds, shown) => {
    expect(showSpan(seconds)).toBe(shown);
  });

  it.each(['90s', '10m', '6h', '7d', '500ms'])('the duration %s stays the same', (text) => {
    expect(showDuration(durationMs(text))).toBe(text);
  });
});

describe('the range of a chart', () => {
  it('of changes has steps of days and weeks', () => {
    const stepsUntil = (to: string) => stepsFor({ from: '2025-02-12T00:10:00Z', to }, DAY_MS, CHANGE_STEPS);
    expect(stepsUntil('2025-02-13T00:00:00Z')).toEqual(['1d']);
    expect(stepsUntil('2025-03-13T00:00:00Z')).toEqual(['1d', '7d']);
    expect(stepsUntil('2035-03-13T00:00:00Z')).toEqual(['7d']);
  });

  it('has round steps for any snapshot period', () => {
    const weeks = { from: '2026-11-07T21:03:10Z', to: '2026-11-28T21:01:10Z' };
    expect(stepsFor(weeks, 10_000)).toEqual(['1h', '6h', '1d', '7d']);
    expect(stepsFor(weeks, 10_800_000)).toEqual(['3h', '6h', '1d', '7d']);
    expect(stepsFor({ ...weeks, from: '2026-11-28T20:00:00Z' }, 10_000)).toEqual(['10s', '1m', '10m', '1h']);
  });

  it.each([
    ['2025-02-12T00:10:00Z', '2025-02-12T04:00:00Z', ['10m', '1h']],
    ['2025-02-12T00:00:00Z', '2025-03-05T00:00:00Z', ['1h', '6h', '1d', '7d']],
    ['2025-01-01T00:00:00Z', '2055-01-01T00:00:00Z', ['14d']],
    ['2025-02-12T00:10:00Z', '2025-02-12T00:10:00Z', ['10m']],
    ['2025-02-12T00:00:00Z', '2025-02-18T22:40:00Z', ['1h', '6h', '1d']],
    ['2025-02-12T00:00:00Z', '2025-02-18T22:30:00Z', ['10m', '1h', '6h', '1d']],
  ])('from %s to %s has the steps %j', (from, to, steps) => {
    expect(stepsFor({ from, to }, 600_000)).toEqual(steps);
    expect((Date.parse(to) - Date.parse(from)) / durationMs(steps[0]!)).toBeLessThan(POINTS_MAX);
  });

  it('of a span ends at the newest snapshot and begins no earlier than the first', () => {
    const ends = { oldest: '2025-02-12T00:10:00Z', newest: '2025-02-14T00:00:00Z' };
    expect(startOf('24h', ends)).toBe('2025-02-13T00:00:00Z');
    expect(startOf('7d', ends)).toBe(ends.oldest);
    expect(startOf('all', ends)).toBe(ends.oldest);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decimalOf,
  partsOf,
  percentOf,
  percentOfShare,
  shortOf,
  subtract,
  ticksUpTo,
  unitsOf,
} from '../src/data/decimal.ts';

/** Longer than any float is exact. */
const units = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const amounts = units.map(decimalOf);

describe('amounts on the dashboard', () => {
  it('are the same as text and in units', () => {
    fc.assert(
      fc.property(units, (each) => {
        expect(unitsOf(decimalOf(each))).toBe(each);
      }),
    );
    expect(decimalOf(-1n)).toBe('-0.0000000001');
    expect(unitsOf('12.5000000000')).toBe(125_000_000_000n);
  });

  it('are shown in parts that together are the amount', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const { sign, groups, fraction, zeros } = partsOf(amount);
        expect([sign, ...groups, fraction, zeros].join('')).toBe(amount);
        expect(zeros).toMatch(/^\.?0*$/);
        expect(groups.slice(1).every((group) => group.length === 3)).toBe(true);
      }),
    );
  });

  it.each([
    ['309973960.4190139900', '', ['309', '973', '960'], '.41901399', '00'],
    ['-0.0000000000', '-', ['0'], '', '.0000000000'],
    ['4009', '', ['4', '009'], '', ''],
    ['100.0000000000', '', ['100'], '', '.0000000000'],
  ])('%s has its parts', (amount, sign, groups, fraction, zeros) => {
    expect(partsOf(amount)).toEqual({ sign, groups, fraction, zeros });
  });

  it('are subtracted to the last digit', () => {
    expect(subtract('9999999999999999999999999999.0000000001', '9999999999999999999999999999.0000000002')).toBe(
      '-0.0000000001',
    );
    fc.assert(
      fc.property(units, units, (a, b) => {
        expect(unitsOf(subtract(decimalOf(a), decimalOf(b)))).toBe(a - b);
      }),
    );
  });

  it.each([
    ['1.0000000000', '3.0000000000', '33.33'],
    ['2.0000000000', '3.0000000000', '66.67'],
    ['0.0000500000', '1.0000000000', '0.01'],
    ['0.0000499999', '1.0000000000', '0.00'],
    ['0.0000000000', '0.0000000000', '0.00'],
    ['5.0000000000', '5.0000000000', '100.00'],
  ])('%s of %s is %s percent, rounded half up', (part, whole, percent) => {
    expect(percentOf(part, whole)).toBe(percent);
  });

  it.each([
    ['0.1234567890', '12.34567890'],
    ['0.0012345678', '0.12345678'],
    ['1.0000000000', '100.00000000'],
    ['0.0000000000', '0.00000000'],
  ])('a share of %s is %s percent', (share, percent) => {
    expect(percentOfShare(share)).toBe(percent);
  });
});

describe('the marks of an axis', () => {
  it('reach the largest amount, are few, evenly apart, and named exactly', () => {
    const scales = [
      ['', 0],
      ['k', 3],
      ['M', 6],
      ['B', 9],
      ['T', 12],
    ] as const;
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 38n }), (max) => {
        const ticks = ticksUpTo(max);
        const step = ticks[1]! - ticks[0]!;
        expect(ticks[0]).toBe(0n);
        expect(ticks.at(-1)! >= max).toBe(true);
        expect(ticks.length).toBeLessThanOrEqual(6);
        expect(ticks.every((tick, index) => tick === BigInt(index) * step)).toBe(true);
        for (const tick of ticks) {
          const [, digits = '', name = ''] = /^([\d.]+)([kMBT]?)$/.exec(shortOf(tick))!;
          const power = scales.find(([each]) => each === name)![1];
          const [whole = '', fraction = ''] = digits.split('.');
          expect(BigInt(whole + fraction.padEnd(10 + power, '0'))).toBe(tick);
        }
      }),
    );
  });

  it.each([
    [25_000_000_000_000_000n, '2.5M'],
    [10_000_000_000_000n, '1k'],
    [9_990_000_000_000n, '999'],
    [1n, '0.0000000001'],
    [0n, '0'],
  ])('%s units are called %s', (units, name) => {
    expect(shortOf(units)).toBe(name);
  });
});

import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitsNumeric, formatAmount, parseAmount, UNITS_PER_COIN } from '../../src/ledger/amount.ts';

/** The oracle: wide enough for every text that the tests draw. */
const Exact = Decimal.clone({ precision: 300, toExpNeg: -300, toExpPos: 300 });

function oracle(text: string): bigint | null {
  const units = new Exact(text).times(UNITS_PER_COIN.toString());
  return units.isInteger() && units.abs().lt('1e38') ? BigInt(units.toFixed(0)) : null;
}

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...'0123456789'), { minLength: min, maxLength: max }).map((all) => all.join(''));
const sign = fc.constantFrom('', '-');
const plain = fc
  .tuple(sign, digits(1, 30), fc.option(digits(1, 12)))
  .map(([minus, whole, fraction]) => (fraction === null ? `${minus}${whole}` : `${minus}${whole}.${fraction}`));
const scientific = fc
  .tuple(plain, fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 40 }))
  .map(([mantissa, e, plus, exponent]) => `${mantissa}${e}${plus}${exponent}`);
const units = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });

describe('parseAmount', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['0E-10', 0n],
    ['0E+40', 0n],
    ['1E-10', 1n],
    ['9.999E-7', 9999n],
    ['500.0000000000', 5_000_000_000_000n],
    ['9999999999999999999999999999.9999999999', 10n ** 38n - 1n],
    ['-9999999999999999999999999999.9999999999', 1n - 10n ** 38n],
    ['1E+27', 10n ** 37n],
    ['1E+28', null],
    ['10000000000000000000000000000', null],
    ['1.00000000000', null],
    ['1E-11', null],
    [`1${'0'.repeat(59)}.${'0'.repeat(59)}1E-59`, null],
    [`1${'0'.repeat(59)}.${'0'.repeat(60)}E-59`, UNITS_PER_COIN],
    ['', null],
    ['.5', null],
    ['5.', null],
    ['+5', null],
    ['1 ', null],
    ['1_000', null],
    ['0x10', null],
    ['NaN', null],
    ['Infinity', null],
    ['1e', null],
    ['1E9999999999', null],
    ['٣', null],
  ])('%j is %s', (text, expected) => {
    expect(parseAmount(text)).toBe(expected);
  });

  it('reads what decimal.js reads, in plain and in scientific form', () => {
    fc.assert(
      fc.property(fc.oneof(plain, scientific), (text) => {
        // More than ten fraction digits written out are no Decimal, even where the last ones are zeros.
        const written = /\.([0-9]+)$/.exec(text)?.[1]?.length ?? 0;
        expect(parseAmount(text)).toBe(written > 10 ? null : oracle(text));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('formatAmount', () => {
  it('prints what decimal.js prints with ten decimals', () => {
    fc.assert(
      fc.property(units, (value) => {
        expect(formatAmount(value)).toBe(new Exact(value.toString()).div('1e10').toFixed(10));
      }),
    );
  });

  it('is read back as the same amount', () => {
    fc.assert(fc.property(units, (value) => parseAmount(formatAmount(value)) === value));
  });
});

describe('fitsNumeric', () => {
  it.each([
    [10n ** 38n - 1n, true],
    [10n ** 38n, false],
    [1n - 10n ** 38n, true],
    [-(10n ** 38n), false],
  ])('%s: %s', (value, fits) => {
    expect(fitsNumeric(value)).toBe(fits);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountOf, compare, subtract, sum, unitsOf } from '../../client/src/index.ts';

/** Longer than any float is exact. */
const units = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });

it('are the same as text and in units; added, subtracted and compared to the last digit', () => {
  fc.assert(
    fc.property(units, units, (a, b) => {
      const [first, second] = [amountOf(a), amountOf(b)];
      expect(unitsOf(first)).toBe(a);
      expect(unitsOf(subtract(first, second))).toBe(a - b);
      expect(unitsOf(sum([first, second, first]))).toBe(a + b + a);
      expect(Math.sign(compare(first, second))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
  const large = '9999999999999999999999999999.000000000';
  expect(subtract(`${large}1`, `${large}2`)).toBe('-0.0000000001');
  expect(sum([])).toBe('0.0000000000');
});

it.each([
  ['12.5', 125_000_000_000n],
  ['-0.0000000001', -1n],
  ['-0.5', -5_000_000_000n],
  ['007', 70_000_000_000n],
])('takes %s, as a person writes it', (amount, expected) => expect(unitsOf(amount)).toBe(expected));

it.each(['', '.5', '1.', '1e3', '1.00000000001', '1,5', '+1', 'NaN', ' 1', '1\n', '٣'])('refuses %j', (amount) =>
  expect(() => unitsOf(amount)).toThrow(`amount: given ${JSON.stringify(amount)}, expected a decimal`),
);

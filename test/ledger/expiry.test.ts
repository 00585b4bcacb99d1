import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAmount, parseAmount } from '../../src/ledger/amount.ts';
import { expiryOf, expiryRound } from '../../src/ledger/coin.ts';
import { holdingFee } from '../support/ledger/holding-fee.ts';

const Exact = Decimal.clone({ precision: 300 });
const INT64_MAX = 2n ** 63n - 1n;

const terms = fc.record({
  amount: fc.oneof(fc.bigInt({ min: 1n, max: 1000n }), fc.bigInt({ min: 1n, max: 10n ** 38n - 1n })),
  rate: fc.oneof(fc.bigInt({ min: 0n, max: 100n }), fc.bigInt({ min: 0n, max: 10n ** 38n - 1n })),
  createdRound: fc.oneof(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min: 0n, max: INT64_MAX })),
});
const round = fc.oneof(fc.bigInt({ min: 0n, max: 3000n }), fc.bigInt({ min: -INT64_MAX - 1n, max: INT64_MAX }));

describe('holdingFee', () => {
  it.each([
    ['12', '1.5', 4n, 1n, '-4.5000000000'],
    ['12', '1.5', 4n, 4n, '0.0000000000'],
    ['12', '1.5', 4n, 5n, '1.5000000000'],
    ['12', '1.5', 4n, 11n, '10.5000000000'],
    ['12', '1.5', 4n, 12n, '12.0000000000'],
    ['12', '1.5', 4n, 13n, '12.0000000000'],
    ['12', '0.7', 4n, 22n, '12.0000000000'],
    ['12', '0', 4n, 1000n, '0.0000000000'],
    ['0.0000000003', '0.0000000002', 0n, 1n, '0.0000000002'],
    ['9999999999999999999999999999.9999999999', '0.0000000001', 0n, 9n, '0.0000000009'],
  ])('of %s at %s a round, created in %s, as of %s: %s', (amount, rate, createdRound, asOf, fee) => {
    const terms = { amount: parseAmount(amount)!, rate: parseAmount(rate)!, createdRound };
    expect(formatAmount(holdingFee(terms, asOf))).toBe(fee);
  });

  it('is the definition in decimal.js, to the last digit', () => {
    fc.assert(
      fc.property(terms, round, (drawn, asOf) => {
        const accrued = new Exact(asOf.toString()).minus(drawn.createdRound.toString()).times(drawn.rate.toString());
        const fee = Exact.min(drawn.amount.toString(), accrued);
        expect(holdingFee(drawn, asOf).toString()).toBe(fee.toFixed(0).replace(/^-0$/, '0'));
      }),
    );
  });
});

describe('expiryRound', () => {
  it('is the smallest round at which the fee takes the whole amount', () => {
    fc.assert(
      fc.property(terms, (drawn) => {
        const expiry = expiryRound(drawn);
        if (expiry === null) {
          expect(drawn.rate === 0n || holdingFee(drawn, INT64_MAX) < drawn.amount).toBe(true);
        } else {
          expect(holdingFee(drawn, expiry)).toBe(drawn.amount);
          expect(holdingFee(drawn, expiry - 1n)).toBeLessThan(drawn.amount);
        }
      }),
    );
  });
});

describe('expiryOf', () => {
  const near = (centre: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: centre - 3n, max: centre + 3n });
  const edge = fc.oneof(near(3n), near(2n ** 26n), near(2n ** 53n), near(2n ** 54n), near(10n ** 16n));
  const edgeTerms = fc.record({ amount: edge.filter((amount) => amount > 0n), rate: edge, createdRound: edge });

  it('is the expiry round, as a number only where that is exact', () => {
    fc.assert(
      fc.property(fc.oneof(terms, edgeTerms), (drawn) => {
        const expiry = expiryOf(drawn);
        if (typeof expiry === 'number') expect(expiry === Infinity || Number.isSafeInteger(expiry)).toBe(true);
        expect(expiry === Infinity ? null : BigInt(expiry)).toBe(expiryRound(drawn));
      }),
      { numRuns: 2000 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expiryOf, expiryRound } from '../../src/ledger/coin.ts';
import { holdingFee } from '../support/ledger/holding-fee.ts';

const INT64_MAX = 2n ** 63n - 1n;

const terms = fc.record({
  amount: fc.oneof(fc.bigInt({ min: 1n, max: 1000n }), fc.bigInt({ min: 1n, max: 10n ** 38n - 1n })),
  rate: fc.oneof(fc.bigInt({ min: 0n, max: 100n }), fc.bigInt({ min: 0n, max: 10n ** 38n - 1n })),
  createdRound: fc.oneof(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min: 0n, max: INT64_MAX })),
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

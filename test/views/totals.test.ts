import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expiryRound } from '../../src/ledger/coin.ts';
import { addTo, decodeVersion, encodeVersion, noSums, type Sums, takeFrom } from '../../src/views/store/stored-rows.ts';
import { holdingFee } from '../support/ledger/holding-fee.ts';

const INT64_MAX = 2n ** 63n - 1n;

/** Numbers of every width, the edges of the encoding's groups and of 53, 63 and 64 bits among them. */
function naturals(bitsMax: number): fc.Arbitrary<bigint> {
  const edges = [7, 14, 28, 32, 49, 53, 63, 64, 98, 128, 147].filter((bits) => bits <= bitsMax);
  const nearEdge = fc.tuple(fc.constantFrom(...edges), fc.bigInt(-2n, 2n)).map(([bits, by]) => 2n ** BigInt(bits) + by);
  const ofWidth = fc.integer({ min: 1, max: bitsMax }).chain((bits) => fc.bigInt(0n, 2n ** BigInt(bits) - 1n));
  return fc.oneof(nearEdge, ofWidth);
}

const rounds = fc.oneof(naturals(62), fc.bigInt(INT64_MAX - 3n, INT64_MAX), fc.bigInt(0n, 50n));

const coins = fc.record({
  amount: naturals(126).map((units) => units + 1n),
  rate: fc.oneof(fc.constant(0n), naturals(126), fc.bigInt(1n, 9n)),
  createdRound: rounds,
});

type Terms = { amount: bigint; rate: bigint; createdRound: bigint };

function termsOf({ amount, rate, createdRound }: Terms): Parameters<typeof addTo>[1] {
  const expiry = expiryRound({ amount, rate, createdRound }) ?? Infinity;
  return { amount, rate, rateRound: rate * createdRound, expiry };
}

function sumsOf(list: readonly Terms[]): Sums {
  const sums = noSums();
  for (const coin of list) addTo(sums, termsOf(coin));
  return sums;
}

const someSums = fc.oneof(
  fc.constant(noSums()),
  fc.array(coins, { minLength: 1, maxLength: 4 }).map(sumsOf),
  fc.record({
    count: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    amount: naturals(1000),
    rate: naturals(1000),
    rateRound: naturals(1000),
    expiryBound: fc.oneof(fc.constant(Infinity), naturals(62), naturals(53).map(Number)),
  }),
);

/** As a version gives them back: a bound is a bigint, or Infinity for none. */
function stored(sums: Sums): Sums {
  const { expiryBound } = sums;
  return { ...sums, expiryBound: expiryBound === Infinity ? Infinity : BigInt(expiryBound) };
}

describe('the version of an owner', () => {
  it('comes back as it was written, however wide its numbers', () => {
    fc.assert(
      fc.property(someSums, someSums, (unlocked, locked) => {
        const read = decodeVersion(encodeVersion(unlocked, locked));
        expect(read).toEqual({ unlocked: stored(unlocked), locked: stored(locked) });
      }),
    );
  });

  it('is one byte for an owner without coin, and has no locked half where nothing is locked', () => {
    expect([...encodeVersion(noSums(), noSums())]).toEqual([0]);
    const sums = sumsOf([{ amount: 1n, rate: 0n, createdRound: 1n }]);
    expect([...encodeVersion(sums, noSums())]).toEqual([1, 1, 0, 0, 0]);
  });

  it.each([
    ['ends too early', [1, 1, 0, 0]],
    ['ends within a number', [1, 0x81]],
    ['has bytes after its end', [0, 0, 0]],
  ])('is refused where it %s', (_, bytes) => {
    expect(() => decodeVersion(Uint8Array.from(bytes))).toThrow(/version of total/);
  });
});

describe('the sums of an owner', () => {
  it('are those of the coins left, whatever came and went, and the bound of expiry is never above one', () => {
    const happenings = fc.array(fc.tuple(coins, fc.boolean(), fc.nat()), { maxLength: 30 });
    fc.assert(
      fc.property(happenings, (list) => {
        const sums = noSums();
        const left: Terms[] = [];
        for (const [coin, stays, which] of list) {
          addTo(sums, termsOf(coin));
          left.push(coin);
          if (stays) continue;
          const [taken] = left.splice(which % left.length, 1);
          takeFrom(sums, termsOf(taken!));
        }
        const { expiryBound: exact, ...rest } = sumsOf(left);
        expect(sums).toMatchObject(rest);
        expect(sums.expiryBound <= exact).toBe(true);
        expect(left.length > 0 || sums.expiryBound === Infinity).toBe(true);
      }),
    );
  });

  it('never fall below zero', () => {
    const one = termsOf({ amount: 5n, rate: 2n, createdRound: 3n });
    expect(() => takeFrom(noSums(), one)).toThrow(/not zero/);
    const sums = sumsOf([
      { amount: 5n, rate: 2n, createdRound: 3n },
      { amount: 1n, rate: 1n, createdRound: 1n },
    ]);
    expect(() => takeFrom(sums, { ...one, amount: 7n })).toThrow(/below zero/);
  });

  it('give the fee of the definition at every round, once the expired coins are taken out of them', () => {
    const askedRounds = fc.oneof(rounds, fc.bigInt(-(2n ** 63n), INT64_MAX), fc.constant(null));
    fc.assert(
      fc.property(fc.array(coins, { maxLength: 8 }), askedRounds, fc.bigInt(-1n, 1n), (list, asked, near) => {
        const expiries = list.map(expiryRound).filter((expiry) => expiry !== null);
        const round = asked ?? (expiries[0] ?? 0n) + near;
        const sums = sumsOf(list);
        const expired = round < sums.expiryBound ? [] : list.filter((coin) => (expiryRound(coin) ?? Infinity) <= round);
        const gone = sumsOf(expired);
        const formula = round * (sums.rate - gone.rate) - (sums.rateRound - gone.rateRound) + gone.amount;
        // No round beyond int64 can be requested, and an expiry beyond it is none.
        if (round > INT64_MAX) return;
        expect(formula).toBe(list.reduce((sum, coin) => sum + holdingFee(coin, round), 0n));
      }),
      { numRuns: 500 },
    );
  });
});

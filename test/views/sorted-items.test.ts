import { describe, expect, it } from 'vitest';
import { passSorted } from '../../src/views/write/open-items.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';

/** Items of which many share their first bytes, some of them several times. */
function someItems(random: Random, count: number): string[] {
  const items = Array.from({ length: count }, () => {
    const first = random.chance(0.3) ? 'ab'.repeat(4) : Math.floor(random.below(2 ** 31) * 2).toString(16);
    return `${first.padStart(8, '0')}${random
      .below(random.chance(0.5) ? 5 : 1_000_000)
      .toString(16)
      .padStart(56, '0')}`;
  });
  return items;
}

function sorted(runs: readonly (readonly string[])[], atOnce: number): string[] {
  const found: string[] = [];
  const buffers = runs.map((items) => Buffer.from(items.join(''), 'hex'));
  const count = runs.flat().length;
  passSorted(
    () => buffers,
    count,
    (part) => found.push(...(part.toString('hex').match(/.{64}/g) ?? [])),
    { atOnce },
  );
  return found;
}

describe('items in order', () => {
  it.each([1, 2, 3, 10, 400, 401, 2 ** 20])(
    'are each that occurs an odd number of times, with %i in memory',
    (atOnce) => {
      for (let seed = 0; seed < 20; seed++) {
        const random = createRandom(seed);
        const runs = Array.from({ length: 1 + random.below(6) }, () => someItems(random, random.below(80)));
        const counts = Map.groupBy(runs.flat(), (item) => item);
        const expected = [...counts].filter(([, all]) => all.length % 2 === 1).map(([item]) => item);
        expect(sorted(runs, atOnce), `seed ${seed}`).toEqual(expected.sort());
      }
    },
  );

  it('are none of none', () => {
    expect([sorted([], 1), sorted([[]], 2)]).toEqual([[], []]);
  });
});

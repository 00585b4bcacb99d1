import { describe, expect, it } from 'vitest';
import { FoldIndex } from '../../src/views/write/hash-index.ts';
import { createRandom } from '../support/ledger/random.ts';

function positionsOf(index: FoldIndex, fold: number): number[] {
  const found: number[] = [];
  for (let slot = index.first(fold); slot >= 0; slot = index.next(fold, slot)) found.push(index.position(slot));
  return found.sort((a, b) => a - b);
}

describe('an index of folds', () => {
  it.each([1, 2, 3])('finds every position of a fold and no other, however many there are (seed %i)', (seed) => {
    const random = createRandom(seed);
    const index = new FoldIndex();
    for (const size of [3, 5_000, 20_000, 100]) {
      const wanted = new Map<number, number[]>();
      for (let position = 0; position < size; position++) {
        // Many share their low bits, which are the hash, at the end of the table too; some share all of them.
        const low = random.chance(0.1) ? 2 ** 32 - 1 - random.below(3) : random.below(size * 2);
        const fold = random.below(4) * 2 ** 32 + low;
        wanted.set(fold, [...(wanted.get(fold) ?? []), position]);
        index.add(fold, position);
      }
      for (const [fold, positions] of wanted) {
        const found = positionsOf(index, fold);
        if (found.length !== positions.length || found.some((position, i) => position !== positions[i])) {
          expect(found, `fold ${fold}`).toEqual(positions);
        }
      }
      expect(positionsOf(index, 7 * 2 ** 32)).toEqual([]);
      index.clear();
      expect([...wanted.keys()].every((fold) => index.first(fold) === -1)).toBe(true);
    }
  });
});

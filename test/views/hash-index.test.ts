import { describe, expect, it } from 'vitest';
import { HashIndex } from '../../src/views/write/hash-index.ts';
import { createRandom } from '../support/ledger/random.ts';

function positionsOf(index: HashIndex, hash: number): number[] {
  const found: number[] = [];
  for (let slot = index.first(hash); slot >= 0; slot = index.next(hash, slot)) found.push(index.position(slot));
  return found.sort((a, b) => a - b);
}

describe('an index of id hashes', () => {
  it.each([1, 2, 3])('finds every position of a hash and no other, however many there are (seed %i)', (seed) => {
    const random = createRandom(seed);
    const index = new HashIndex();
    for (const size of [3, 5_000, 20_000, 100]) {
      const wanted = new Map<number, number[]>();
      for (let position = 0; position < size; position++) {
        // Many share their low bits, which are the hash, at the end of the table too; some share all of them.
        const low = random.chance(0.1) ? 2 ** 32 - 1 - random.below(3) : random.below(size * 2);
        const hash = random.below(4) * 2 ** 32 + low;
        wanted.set(hash, [...(wanted.get(hash) ?? []), position]);
        index.add(hash, position);
      }
      for (const [hash, positions] of wanted) {
        const found = positionsOf(index, hash);
        if (found.length !== positions.length || found.some((position, i) => position !== positions[i])) {
          expect(found, `hash ${hash}`).toEqual(positions);
        }
      }
      expect(positionsOf(index, 7 * 2 ** 32)).toEqual([]);
      index.clear();
      expect([...wanted.keys()].every((hash) => index.first(hash) === -1)).toBe(true);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { HashIndex, NUMBER_MAX } from '../../src/views/store/hash-index.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';

function numbersOf(index: HashIndex, hash: number): number[] {
  const found: number[] = [];
  for (let slot = index.first(hash); slot >= 0; slot = index.next(hash, slot)) found.push(index.number(slot));
  return found.sort((a, b) => a - b);
}

/** Of the low 32 bits, which the index looks at, many share theirs, at the end of the table too. */
function randomHash(random: Random, size: number): number {
  const low = random.chance(0.1) ? 2 ** 32 - 1 - random.below(3) : random.below(size * 2);
  return random.below(4) * 2 ** 32 + low;
}

function expectSame(index: HashIndex, wanted: ReadonlyMap<number, readonly number[]>): void {
  for (const [hash, numbers] of wanted) {
    const found = numbersOf(index, hash);
    if (found.length !== numbers.length || found.some((number, i) => number !== numbers[i])) {
      expect(found, `hash ${hash}`).toEqual(numbers);
    }
  }
}

describe('an index of id hashes', () => {
  it.each([1, 2, 3])('finds every number of a hash and no other, however many there are (seed %i)', (seed) => {
    const random = createRandom(seed);
    const index = new HashIndex();
    for (const size of [3, 5_000, 20_000, 100]) {
      const wanted = new Map<number, number[]>();
      for (let number = 0; number < size; number++) {
        const hash = randomHash(random, size);
        const low = hash >>> 0;
        wanted.set(low, [...(wanted.get(low) ?? []), number]);
        index.add(hash, number);
      }
      expectSame(index, wanted);
      expect(index.size).toBe(size);
      expect(numbersOf(index, size * 2 + 7)).toEqual([]);
      index.clear();
      expect([...wanted.keys()].every((hash) => index.first(hash) === -1)).toBe(true);
    }
  });

  it.each([1, 2, 3])('forgets what is removed and nothing else, while others are added (seed %i)', (seed) => {
    const random = createRandom(seed);
    const index = new HashIndex();
    const wanted = new Map<number, number[]>();
    const there: { hash: number; number: number }[] = [];
    for (let number = 0; number < 60_000; number++) {
      // It grows to some ten thousand, and shrinks to none in the end.
      const isAdded = there.length === 0 || random.chance(number < 30_000 ? 0.7 : 0.25);
      if (isAdded) {
        const entry = { hash: randomHash(random, 5_000), number };
        there.push(entry);
        index.add(entry.hash, number);
        wanted.set(entry.hash >>> 0, [...(wanted.get(entry.hash >>> 0) ?? []), number]);
      } else {
        const [entry] = there.splice(random.below(there.length), 1);
        index.remove(entry!.hash, entry!.number);
        const low = entry!.hash >>> 0;
        wanted.set(
          low,
          wanted.get(low)!.filter((each) => each !== entry!.number),
        );
      }
      if (number % 10_000 === 0) expectSame(index, wanted);
    }
    expectSame(index, wanted);
    expect(index.size).toBe(there.length);
  });

  it('refuses what it cannot keep, and to forget what it does not have', () => {
    const index = new HashIndex();
    index.add(5, NUMBER_MAX);
    expect(numbersOf(index, 5)).toEqual([NUMBER_MAX]);
    for (const number of [NUMBER_MAX + 1, -1, Number.NaN]) expect(() => index.add(5, number)).toThrow(/expected 0 to/);
    expect(() => index.remove(5, 1)).toThrow(/number 1 is not in the index/);
    expect(() => index.remove(6, NUMBER_MAX)).toThrow(/not in the index/);
  });
});

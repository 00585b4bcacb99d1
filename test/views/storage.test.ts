import { statSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeDataDirectory, openForReading, openForWriting, viewsFile } from '../../src/views/store/database.ts';
import { rowOrder } from '../../src/views/store/row-order.ts';
import { addTo } from '../../src/views/store/stored-rows.ts';
import { HashIndex, NUMBER_MAX } from '../../src/views/write/contracts.ts';
import { Epochs } from '../../src/views/write/epochs.ts';
import { Instruments } from '../../src/views/write/instruments.ts';
import { passSorted } from '../../src/views/write/open-items.ts';
import { Owners, sumsOf } from '../../src/views/write/owner-sums.ts';
import { loadState, newMigration } from '../../src/views/write/state.ts';
import { createRandom, type Random } from '../support/ledger/random.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { WRITER_OPTIONS } from '../support/views/replayed.ts';

/** More than the cache can have. */
const OWNERS = 60_000;
const PER_BATCH = 20_000;

it('owners that were forgotten come back with their number and their sums', () => {
  using directory = temporaryDirectory();
  makeDataDirectory(directory.at('data'));
  const db = openForWriting(directory.at('data'), { snapshotPeriodUs: null, dso: 'dso::1220', migrationId: null });
  const state = loadState(db);
  const migration = newMigration(3);
  state.migrations.set(3, migration);
  const epochs = new Epochs(db);
  const instruments = new Instruments(db, state);
  const owners = new Owners(db, { state, epochs, instruments });
  const batch = (from: number, apply: (number: number) => void): void => {
    for (let number = from; number < from + PER_BATCH; number++) apply(number);
    db.transaction(() => {
      owners.flush();
      instruments.flush();
      epochs.flush(1);
    })();
    for (const part of [owners, instruments, epochs]) part.afterCommit();
  };
  const party = (number: number): string => `owner-${number}::1220`;
  const add = (number: number): void => {
    const owner = owners.ofParty(migration, party(number));
    owners.touch(owner);
    addTo(sumsOf(owner, 'unlocked'), { amount: BigInt(number), rate: 1n, rateRound: 2n, expiry: number });
  };
  for (let from = 0; from < OWNERS; from += PER_BATCH) batch(from, add);
  // Twice more, the second time by number: whatever is still in memory, on disk or on its way between.
  for (let from = 0; from < OWNERS; from += PER_BATCH) batch(from, add);
  for (const number of [0, 1, 30_000, 59_999]) {
    const owner = owners.ofNo(number + 1);
    expect(owners.partyOf(owner)).toBe(party(number));
    expect(owners.ofParty(migration, party(number))).toBe(owner);
    expect(owner.unlocked).toMatchObject({ count: 2, amount: BigInt(2 * number), rate: 2n, rateRound: 4n });
    expect(BigInt(owner.unlocked.expiryBound)).toBe(BigInt(number));
  }
  expect(db.prepare('SELECT count(*) AS count, max(id) AS most FROM account').get()).toEqual({
    count: OWNERS,
    most: OWNERS,
  });
  expect(state.nextAccount).toBe(OWNERS + 1);
  db.close();
});

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
  it('forgets what is removed and nothing else, while others are added', () => {
    const random = createRandom(1);
    const index = new HashIndex();
    const wanted = new Map<number, number[]>();
    const there: { hash: number; number: number }[] = [];
    for (let number = 0; number < 30_000; number++) {
      // It grows to some ten thousand, and shrinks to none in the end.
      const isAdded = there.length === 0 || random.chance(number < 15_000 ? 0.7 : 0.25);
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

/** Keys of every width, the edges of digits among them, and many that are equal. */
const keys = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 11 - 1, 2 ** 11, 2 ** 22, 2 ** 32 - 1),
  fc.nat(2 ** 32 - 1),
  fc.nat(5),
);
const rows = fc.array(fc.record({ first: keys, second: keys }), { size: 'medium' });

describe('the order of rows', () => {
  it('is that of a stable sort by every key, the first key first', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const byFirst = [...rowOrder(list, (row) => row.first)].map((i) => list[i]);
        expect(byFirst).toEqual(list.toSorted((a, b) => a.first - b.first));
        const byBoth = rowOrder(
          list,
          (row) => row.first,
          (row) => row.second,
        );
        const positions = list.map((_, i) => i);
        const wanted = positions.toSorted(
          (a, b) => list[a]!.first - list[b]!.first || list[a]!.second - list[b]!.second || a - b,
        );
        expect([...byBoth]).toEqual(wanted);
      }),
    );
  });
});

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
  passSorted(
    () => buffers,
    (part) => found.push(...(part.toString('hex').match(/.{64}/g) ?? [])),
    atOnce,
  );
  return found;
}

describe('items in order', () => {
  it.each([1, 3, 400, 2 ** 20])('are each that occurs an odd number of times, with %i in memory', (atOnce) => {
    for (let seed = 0; seed < 5; seed++) {
      const random = createRandom(seed);
      const runs = Array.from({ length: 1 + random.below(6) }, () => someItems(random, random.below(80)));
      const counts = Map.groupBy(runs.flat(), (item) => item);
      const expected = [...counts].filter(([, all]) => all.length % 2 === 1).map(([item]) => item);
      expect(sorted(runs, atOnce), `seed ${seed}`).toEqual(expected.sort());
    }
  });

  it('are none of none', () => {
    expect([sorted([], 1), sorted([[]], 2)]).toEqual([[], []]);
  });
});

const MIB = 2 ** 20;
/** The least bound: 20,000 pages. */
const LOG_BYTES_MAX = 20_000 * 4_120;

it('the log that grew during a long read is cut to its bound by the commits after it', () => {
  using directory = temporaryDirectory();
  const db = openForWriting(directory.path, WRITER_OPTIONS);
  db.exec('CREATE TABLE filler(b BLOB)');
  const insert = db.prepare('INSERT INTO filler VALUES (zeroblob(?))');
  const logBytes = (): number => statSync(`${viewsFile(directory.path)}-wal`).size;
  const reader = openForReading(directory.path);
  reader.exec('BEGIN; SELECT count(*) FROM snapshot');
  for (let i = 0; i < 6; i++) insert.run(16 * MIB);
  expect(logBytes()).toBeGreaterThan(LOG_BYTES_MAX + 8 * MIB);
  reader.close();
  for (let i = 0; i < 2; i++) insert.run(1);
  expect(logBytes()).toBeLessThanOrEqual(LOG_BYTES_MAX);
  db.close();
});

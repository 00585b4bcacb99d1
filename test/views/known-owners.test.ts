import { expect, it } from 'vitest';
import { NOT_BOUNDED } from '../../src/views/read/stored-snapshots.ts';
import { cachingOwners } from '../../src/views/read/views-store.ts';
import { NO_SUMS } from '../../src/views/store/totals.ts';

const snapshot = {
  migrationId: 0,
  recordTime: 1,
  seq: 7,
  no: 7,
  contracts: 1,
  owners: 1,
  unlocked: 1n,
  locked: 0n,
  forced: false,
  changesDigest: null,
  digest: null,
};
const later = { ...snapshot, recordTime: 2, seq: 8 };
const nextMigration = { ...snapshot, migrationId: 1 };
const budget = { rows: Infinity };

function counting(): { readonly read: ReturnType<typeof cachingOwners>; readonly count: () => number } {
  let reads = 0;
  const read = cachingOwners((_, party) => {
    reads += 1;
    if (party === 'large') throw NOT_BOUNDED;
    return { party, unlocked: NO_SUMS, locked: NO_SUMS, expired: null };
  });
  return { read, count: () => reads };
}

it('an owner is read once for each snapshot and round', () => {
  const { read, count } = counting();
  for (let time = 1; time <= 2; time++) {
    for (const at of [snapshot, later, nextMigration])
      for (const party of ['alice', 'bob'])
        for (const round of [null, 0n, 1n]) expect(read(at, party, round, budget).party).toBe(party);
    expect(count()).toBe(3 * 2 * 3);
  }
});

it('an owner that could not be read is tried again', () => {
  const { read, count } = counting();
  for (let time = 1; time <= 2; time++) expect(() => read(snapshot, 'large', 1n, budget)).toThrow(NOT_BOUNDED);
  expect(count()).toBe(2);
});

it('the first of too many is forgotten, and the last is not', () => {
  const { read, count } = counting();
  for (let i = 0; i <= 5_000; i++) read(snapshot, `owner ${i}`, null, budget);
  const reads = count();
  read(snapshot, 'owner 5000', null, budget);
  expect(count()).toBe(reads);
  read(snapshot, 'owner 0', null, budget);
  expect(count()).toBe(reads + 1);
});

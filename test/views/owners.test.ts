import { expect, it } from 'vitest';
import { makeDataDirectory, openForWriting } from '../../src/views/store/database.ts';
import { addTo } from '../../src/views/store/totals.ts';
import { Owners, sumsOf } from '../../src/views/write/owner-sums.ts';
import { loadState, newMigration } from '../../src/views/write/state.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';

/** More than the cache can have: two generations of at least 60,000. */
const OWNERS = 140_000;
const PER_BATCH = 20_000;

it('owners that were forgotten come back with their number and their sums', () => {
  using directory = temporaryDirectory();
  makeDataDirectory(directory.at('data'));
  const db = openForWriting(directory.at('data'), { snapshotPeriodUs: null, dso: null, migrationId: null });
  const state = loadState(db);
  const migration = newMigration(3);
  state.migrations.set(3, migration);
  const owners = new Owners(db, state);
  const batch = (from: number, apply: (number: number) => void): void => {
    for (let number = from; number < from + PER_BATCH; number++) apply(number);
    db.transaction(() => owners.flush())();
    owners.afterCommit();
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
  for (const number of [0, 1, 59_999, 60_001, 80_000, 139_999]) {
    const owner = owners.ofNo(number + 1);
    expect(owner.party).toBe(party(number));
    expect(owners.ofParty(migration, party(number))).toBe(owner);
    expect(owner.unlocked).toMatchObject({ count: 2, amount: BigInt(2 * number), rate: 2n, rateRound: 4n });
    expect(BigInt(owner.unlocked.expiryBound)).toBe(BigInt(number));
  }
  expect(db.prepare('SELECT count(*) AS count, max(id) AS most FROM owner').get()).toEqual({
    count: OWNERS,
    most: OWNERS,
  });
  expect(state.nextOwner).toBe(OWNERS + 1);
  db.close();
});

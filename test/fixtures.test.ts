import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fixtureFiles } from '../fixtures/make.ts';
import { PEOPLE } from '../fixtures/story.ts';

function read(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
}

interface Expected {
  readonly snapshots: readonly {
    readonly record_time: string;
    readonly summaries_v0: readonly { computed_as_of_round: number; summaries: readonly Record<string, string>[] }[];
  }[];
}

/** One owner's summary at a time of day, as of a round. */
function summary(clock: string, party: string, round: number): Record<string, string> | undefined {
  const { snapshots } = JSON.parse(read('story.expected.json')) as Expected;
  const snapshot = snapshots.find(({ record_time }) => record_time === `2025-02-12T${clock}:00Z`);
  const asOf = snapshot?.summaries_v0.find(({ computed_as_of_round }) => computed_as_of_round === round);
  return asOf?.summaries.find(({ party_id }) => party_id === party);
}

describe('the fixtures', () => {
  it.each(Object.entries(fixtureFiles()))('%s is what fixtures/make.ts makes', (name, text) => {
    expect(read(name) === text, `run: node_modules/.bin/node fixtures/make.ts`).toBe(true);
  });

  // Worked out with paper and pencil, so that the oracle does not only agree with itself.
  it.each([
    // 500 at round 100, four rounds of 0.0038051800
    ['00:10', PEOPLE.alice, 104, '500.0000000000', '0.0000000000', '0.0152207200', '499.9847792800'],
    // a round before its coin was created
    ['00:10', PEOPLE.alice, 99, '500.0000000000', '0.0000000000', '-0.0038051800', '500.0038051800'],
    // the crumb of 0.01 is worth 2.6 rounds, so the fee stops at it
    ['00:10', PEOPLE.dave, 103, '0.0100000000', '0.0000000000', '0.0100000000', '0.0000000000'],
    // 300 locked and 79.75 not, both of round 102; the forged and the unsigned million are nowhere
    ['00:30', PEOPLE.alice, 103, '79.7500000000', '300.0000000000', '0.0038051800', '79.7461948200'],
    ['00:30', PEOPLE.mallory, 103, '0.0000000000', '0.0000000000', '0.0000000000', '0.0000000000'],
    // unlocked again: two rounds on each of two coins
    ['01:00', PEOPLE.alice, 104, '379.7500000000', '0.0000000000', '0.0152207200', '379.7347792800'],
    // three rounds on the 250; two on the crumb would be 0.0076103600, but it is worth only 0.0038051801
    ['01:00', PEOPLE.carol, 104, '250.0038051801', '0.0000000000', '0.0152207201', '249.9885844600'],
  ])('%s: %s as of round %i', (clock, party, round, unlocked, locked, fees, available) => {
    expect(summary(clock, party, round)).toMatchObject({
      total_unlocked_coin: unlocked,
      total_locked_coin: locked,
      accumulated_holding_fees_unlocked: fees,
      total_available_coin: available,
    });
  });
});

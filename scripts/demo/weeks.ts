import { closeSync, openSync, writeSync } from 'node:fs';
import { draftOf, type Happening } from '../../fixtures/happening.ts';
import { party, updateId } from '../../fixtures/names.ts';
import { buildStory } from '../../fixtures/story.ts';
import { numbered } from '../../test/support/ledger/history.ts';
import { createRandom } from '../../test/support/ledger/random.ts';
import { scanLine } from '../../test/support/ledger/scan-lines.ts';
import { createEconomy } from './economy.ts';

const START = Date.parse('2025-02-12T01:20:00Z') * 1000;
const ROUNDS_OF_WEEK = 7 * 24 * 6;
const ROUND_MICROS = 600_000_000;
/** The story ends with this round as its newest, and three are open. */
const LAST_ROUND_OF_STORY = 104;

/**
 * Writes the weeks after the story: a few hundred owners who are rewarded in each mining round, pay each other more by day than
 * by night, and lock coin for some days. What is paid is conserved, so that its totals look like those of a real ledger.
 */
export function writeWeeks(path: string, weeks: number): { readonly bytes: number; readonly updates: number } {
  const random = createRandom(7);
  const stage = { migrationId: 0, active: new Map(buildStory().active) };
  const economy = createEconomy(random);
  const file = openSync(path, 'w');
  const rounds = Math.ceil(weeks * ROUNDS_OF_WEEK);
  let [bytes, updates] = [0, 0];
  for (let made = 0; made < rounds; made++) {
    const [opened, start] = [LAST_ROUND_OF_STORY + 1 + made, START + made * ROUND_MICROS];
    const advance: Happening = {
      through: 'AmuletRules_AdvanceOpenMiningRounds',
      inside: [{ archives: `round ${opened - 3}` }, { opens: BigInt(opened) }],
    };
    const happenings = [[advance], ...economy.round({ round: BigInt(opened - 1), start, share: made / rounds })];
    const apart = Math.floor(ROUND_MICROS / (happenings.length + 1));
    const lines = happenings.map((each, index) => {
      const recordTime = start + index * apart + random.below(apart);
      return scanLine({
        kind: 'update',
        wrapping: 'transaction',
        updateId: updateId(`week ${++updates}`),
        migrationId: 0,
        synchronizerId: party('global-domain'),
        offset: updates,
        recordTime,
        effectiveAt: recordTime,
        events: numbered(each.map((happening) => draftOf(stage, happening, recordTime))),
      });
    });
    bytes += writeSync(file, `${lines.join('\n')}\n`);
  }
  closeSync(file);
  return { bytes, updates };
}

import { closeSync, openSync, writeSync } from 'node:fs';
import { draftOf, type Happening } from '../fixtures/happening.ts';
import { party, updateId } from '../fixtures/names.ts';
import { buildStory } from '../fixtures/story.ts';
import { type Micros, numbered } from '../test/support/ledger/history.ts';
import { createRandom, type Random } from '../test/support/ledger/random.ts';
import { scanLine } from '../test/support/ledger/scan-lines.ts';
import { createEconomy } from './economy.ts';

const START = Date.parse('2025-02-12T01:20:00Z') * 1000;
export const ROUNDS_OF_WEEK = 7 * 24 * 6;
export const ROUND_MICROS = 600_000_000;
/** The story ends with this round as its newest. */
const LAST_ROUND_OF_STORY = 104;
const OPEN_ROUNDS = 3;

/** What happens after the story, or in a ledger of its own: a few hundred owners who are rewarded, pay each other and lock coin. */
export interface Weeks {
  readonly random: Random;
  /** The updates of the next round. `share`: how much of the weeks is over. */
  round(now: { readonly start: Micros; readonly share: number }): readonly (readonly Happening[])[];
  /** An update as a line of Scan's format. */
  line(happenings: readonly Happening[], recordTime: Micros): string;
}

export function createWeeks({ behind }: { behind: 'the story' | 'nothing' }): Weeks {
  const random = createRandom(7);
  const stage = { migrationId: 0, active: new Map(behind === 'nothing' ? [] : buildStory().active) };
  const economy = createEconomy(random);
  let [opened, updates] = [behind === 'nothing' ? 0 : LAST_ROUND_OF_STORY, 0];
  return {
    random,
    round({ start, share }) {
      opened += 1;
      const closed = `round ${opened - OPEN_ROUNDS}`;
      const archived: readonly Happening[] = stage.active.has(closed) ? [{ archives: closed }] : [];
      const advance: Happening = {
        through: 'AmuletRules_AdvanceOpenMiningRounds',
        inside: [...archived, { opens: BigInt(opened) }],
      };
      return [[advance], ...economy.round({ round: BigInt(opened - 1), start, share })];
    },
    line(happenings, recordTime) {
      updates += 1;
      return scanLine({
        kind: 'update',
        wrapping: 'transaction',
        updateId: updateId(`week ${updates}`),
        migrationId: 0,
        synchronizerId: party('global-domain'),
        offset: updates,
        recordTime,
        effectiveAt: recordTime,
        events: numbered(happenings.map((happening) => draftOf(stage, happening, recordTime))),
      })!;
    },
  };
}

/**
 * Writes the weeks after the story: more is paid by day than by night, and coin is locked for some days. What is paid is conserved,
 * so that its totals look like those of a real ledger.
 */
export function writeWeeks(path: string, weeks: number): { readonly bytes: number; readonly updates: number } {
  const ledger = createWeeks({ behind: 'the story' });
  const file = openSync(path, 'w');
  const rounds = Math.ceil(weeks * ROUNDS_OF_WEEK);
  let [bytes, updates] = [0, 0];
  for (let made = 0; made < rounds; made++) {
    const lines = roundLines(ledger, { start: START + made * ROUND_MICROS, share: made / rounds });
    updates += lines.length;
    bytes += writeSync(file, `${lines.join('\n')}\n`);
  }
  closeSync(file);
  return { bytes, updates };
}

/** The updates of the next round, spread over its ten minutes. */
export function roundLines(ledger: Weeks, { start, share }: { start: Micros; share: number }): string[] {
  const happenings = ledger.round({ start, share });
  const apart = Math.floor(ROUND_MICROS / (happenings.length + 1));
  return happenings.map((each, index) => ledger.line(each, start + index * apart + ledger.random.below(apart)));
}

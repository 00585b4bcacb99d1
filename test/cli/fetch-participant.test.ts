import { appendFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { offsetOf } from '../support/ledger-api/answers.ts';
import { freshParticipant } from '../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../support/ledger-api/ledger.ts';
import { followedLines, seenLines, TEMPLATES, timesAt } from '../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../support/ledger-api/seed-lines.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { replayInto } from '../support/views/replayed.ts';
import { dumpViews } from '../support/views/views-dump.ts';

const LINES = participantLedger(51, 250);
const FOLLOWED = ownersIn(LINES).slice(1, 4);
const OWN = followedLines(seenLines(LINES, { parties: FOLLOWED, templates: TEMPLATES }), FOLLOWED);
const HALF = 150;

const directory = freshDirectory();
const participant = freshParticipant({ lines: LINES.slice(0, HALF) });

const fetchInto = (output: string, ...more: readonly string[]) => {
  const named = ['--ledger-api', participant.url, '--ledger-api-parties', FOLLOWED.join(',')];
  return holdfast('fetch', ...named, '--migration-id', '0', '--output', output, ...more);
};

async function viewsOf(name: string, file: string): Promise<ReturnType<typeof dumpViews>> {
  expect(await replayInto(directory.at(name), [file], { dso: DSO })).toMatchObject({ halted: null });
  return dumpViews(directory.at(name));
}

it.each(['snapshot', 'beginning'])(
  'fetch --ledger-api writes lines of the followed owners alone, and goes on behind them (--start %s)',
  async (start) => {
    const output = directory.at('out.ndjson');
    expect(await fetchInto(output, '--start', start)).toMatchObject({ code: 0 });
    participant.add(...LINES.slice(HALF));
    // A line that is cut off is written again.
    appendFileSync(output, '{"update":{"Trans');
    expect(await fetchInto(output, '--start', start)).toMatchObject({ code: 0 });
    const offset = offsetOf(LINES[HALF - 1]!);
    const seed = seedLines(OWN, { offset, times: timesAt(LINES, offset) });
    const wanted = start === 'beginning' ? OWN : [...seed, ...OWN.filter((line) => offsetOf(line) > offset)];
    expect(await viewsOf('found', output)).toEqual(await viewsOf('wanted', directory.writeLines('w.ndjson', wanted)));
  },
);

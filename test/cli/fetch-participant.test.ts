import { appendFileSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Contract } from '../support/ledger/history.ts';
import { parseLedger, partyOf } from '../support/ledger/parse-ledger.ts';
import { offsetOf } from '../support/ledger-api/answers.ts';
import { contentOf, createdOf, type WireElement } from '../support/ledger-api/elements.ts';
import { freshParticipant } from '../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../support/ledger-api/ledger.ts';
import { followedLines, seenLines, TEMPLATES, timesAt } from '../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../support/ledger-api/seed-lines.ts';
import { holdfast } from '../support/program/command.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';
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

it('fetch --ledger-api writes tokens of the followed owners, and what counts whoever is followed', async () => {
  const tokens = `00:01 : +r round 1 ; +a alice 10 ; +t alice 5 USDC@registry ; +b bob 1 USDC@registry ; +n none 3 USDC@registry
    00:02 : +u bob 5 USDC@registry failed ; +b bob 2 USDC@registry
    00:03 : -t ; -b ; -u`;
  participant.lines.length = 0;
  const contracts = new Map<string, Contract>();
  participant.add(...linesOf(parseLedger(tokens, contracts), 'acs-delta'));
  const nameOf = (id: string): string => [...contracts].find(([, { contractId }]) => contractId === id)![0];
  const named = ['--ledger-api', participant.url, '--migration-id', '0', '--start', 'beginning'];
  const followed = ['--ledger-api-parties', ['alice', 'registry'].map(partyOf).join(',')];
  const fetched = async (name: string, ...more: readonly string[]): Promise<string[]> => {
    const output = directory.at(name);
    expect(await holdfast('fetch', ...named, ...followed, '--output', output, ...more)).toMatchObject({ code: 0 });
    const lines = readFileSync(output, 'utf8').trim().split('\n');
    return lines.map((line) => {
      const { events = [] } = contentOf(JSON.parse(line) as WireElement).value;
      return events
        .map((event) => {
          const created = createdOf(event);
          return created ? nameOf(created.contractId) : `-${nameOf(event.ArchivedEvent!.contractId)}`;
        })
        .join(' ');
    });
  };
  expect(await fetched('tokens.ndjson')).toEqual(['a t n', 'u', '-t -u', '']);
  expect(await fetched('coins.ndjson', '--tokens', 'off')).toEqual(['a', '']);
});

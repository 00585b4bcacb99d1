import { describe, expect, it, type TestContext } from 'vitest';
import { type ReadSource, valuesOf } from '../../support/feed/read-source.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { ERRORS } from '../../support/ledger-api/errors.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES, timesAt } from '../../support/ledger-api/participant-ledger.ts';
import { readParticipant } from '../../support/ledger-api/read-participant.ts';
import { seedLines } from '../../support/ledger-api/seed-lines.ts';
import {
  type FakeParticipant,
  type FakeParticipantOptions,
  startFakeParticipant,
} from '../../support/ledger-api/server.ts';

const LINES = participantLedger(12, 300);
const PARTIES = ownersIn(LINES);
const SEEN = seenLines(LINES, { parties: PARTIES, templates: TEMPLATES });
/** Where the import is made. */
const IMPORTED = 200;
const OFFSET = offsetOf(LINES[IMPORTED - 1]!);
const PAGES = '/v2/state/active-contracts-page';

async function startParticipant(
  { onTestFinished }: TestContext,
  options: FakeParticipantOptions = {},
): Promise<FakeParticipant> {
  // One of 3.6 says the time of its end, so that only the contracts are before the marker.
  const participant = await startFakeParticipant({ lines: LINES.slice(0, IMPORTED), minor: 6, ...options });
  onTestFinished(() => participant[Symbol.asyncDispose]());
  return participant;
}

const readImport = (participant: FakeParticipant): Promise<ReadSource> =>
  readParticipant(participant, { parties: PARTIES, start: 'snapshot' });

const markersIn = ({ lines }: ReadSource): string[] => lines.filter((line) => line.startsWith('{"seed":{'));
const withoutCheckpoints = (lines: readonly string[]): object[] =>
  valuesOf(lines.filter((line) => !line.includes('OffsetCheckpoint')));

/** All that is active was read, and the updates behind it. */
async function expectImport(participant: FakeParticipant, reading: ReadSource): Promise<void> {
  await reading.until({ stopped: null, position: String(OFFSET) });
  participant.add(...LINES.slice(IMPORTED));
  await reading.until({ position: String(offsetOf(LINES.at(-1)!)), degraded: [] });
  const behind = SEEN.filter((line) => offsetOf(line) > OFFSET);
  const wanted = [...seedLines(SEEN, { offset: OFFSET, times: timesAt(LINES, OFFSET) }), ...behind];
  expect(withoutCheckpoints(reading.lines)).toEqual(withoutCheckpoints(wanted));
}

describe('an import of active contracts', () => {
  it.concurrent.for([5, 6] as const)('of a participant 3.%i goes on behind them', async (minor, context) => {
    const participant = await startParticipant(context, { minor });
    await using reading = await readImport(participant);
    await expectImport(participant, reading);
  });

  const FAULTS: readonly (readonly [string, (participant: FakeParticipant) => void])[] = [
    ['a page that fails', ({ fail }) => fail(PAGES, ERRORS.starting, 2)],
    [
      'contracts that are pruned meanwhile',
      ({ fail }) => fail(PAGES, { status: 400, body: { code: 'PARTICIPANT_PRUNED_DATA_ACCESSED', cause: 'gone' } }, 1),
    ],
    ['a 404 of a proxy', ({ fail }) => fail('/v2/state/ledger-end', { status: 404, body: 'default backend - 404' }, 1)],
  ];
  it.concurrent.for(FAULTS)('survives %s', async ([, spoil], context) => {
    const participant = await startParticipant(context);
    spoil(participant);
    await using reading = await readImport(participant);
    await expectImport(participant, reading);
    expect(markersIn(reading)).toHaveLength(1);
  });

  it.concurrent('waits until the time of its end is known', async (context) => {
    const participant = await startParticipant(context, { minor: 5, checkpointMs: 3_600_000 });
    await using reading = await readImport(participant);
    await reading.until({ stopped: expect.stringMatching(/^waiting for the time of offset/) });
    expect(markersIn(reading)).toEqual([]);
  });

  it.concurrent('of a participant without pages, as before 3.5, says what to do', async (context) => {
    const participant = await startParticipant(context);
    participant.fail(PAGES, { status: 404, body: 'The requested resource could not be found.' });
    await using reading = await readImport(participant);
    const stopped = expect.stringMatching(
      /answers 404 .*; a participant before Canton 3.5 does not have it: begin with/,
    );
    await reading.until({ stopped });
  });

  it.concurrent.for([
    ['a kind of entry that is not known', { JsSomethingNew: { createdEvent: { contractId: '01' } } }, /JsSomethingNew/],
    ['an active contract without its create', { JsActiveContract: { value: {} } }, /JsActiveContract without created/],
    ['no entry', undefined, /an element without contractEntry/],
  ] as const)('with %s is refused', async ([, contractEntry, reason], context) => {
    const participant = await startParticipant(context);
    participant.fail(PAGES, { status: 200, body: { activeContracts: [{ contractEntry }] } });
    await using reading = await readImport(participant);
    expect(await reading.refusal()).toMatch(reason);
  });
});

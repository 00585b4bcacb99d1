import { expect, it } from 'vitest';
import type { LedgerApiSource } from '../../../src/feed/ledger-api/participant-source.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { openSource } from '../../support/ledger-api/open-source.ts';

const LINES = participantLedger(51, 250);
const PARTIES = ownersIn(LINES);

// One of 3.6 says the time of its end, so that nothing but the stream stands before the mark.
const participant = freshParticipant({ lines: LINES, minor: 6 });
const NO_PAGES = { status: 404, body: 'The requested resource could not be found.' };

const open = (): LedgerApiSource => openSource({ url: participant.url, parties: PARTIES });
const isMark = (text: string): boolean => text.startsWith('{"seed":{');

/** The messages up to the mark. */
async function seedOf(source: LedgerApiSource, signal = new AbortController().signal): Promise<string[]> {
  const texts: string[] = [];
  for await (const batch of source.batches(signal)) {
    if (!('identity' in batch)) texts.push(...batch.map(({ bytes }) => Buffer.from(bytes!).toString()));
    if (texts.some(isMark)) break;
  }
  return texts;
}

it('a streamed seed that is aborted has no mark', async () => {
  participant.fail('/v2/state/active-contracts-page', NO_PAGES);
  participant.failStreams({ after: 7, does: 'silent' });
  const stop = new AbortController();
  const source = open();
  const reading = seedOf(source, stop.signal);
  await expect.poll(() => source.telemetry!().seedContracts).toBeGreaterThan(0);
  stop.abort();
  expect((await reading).filter(isMark)).toEqual([]);
});

it('a streamed seed goes on where the stream was closed in good order before its end', async () => {
  const whole = await seedOf(open());
  participant.fail('/v2/state/active-contracts-page', NO_PAGES);
  participant.failStreams({ after: 7, does: 'end' }, { after: 3, does: 'end' });
  expect(await seedOf(open())).toEqual(whole);
});

it.each([
  ['a kind of entry that is not known', { JsSomethingNew: { createdEvent: { contractId: '01' } } }, /JsSomethingNew/],
  [
    'an active contract without its create',
    { JsActiveContract: { value: {} } },
    /JsActiveContract without createdEvent/,
  ],
  ['no entry', undefined, /an element without contractEntry/],
])('a seed with %s is refused', async (_, contractEntry, reason) => {
  const body = { activeContracts: [{ contractEntry }] };
  participant.fail('/v2/state/active-contracts-page', { status: 200, body });
  await expect(seedOf(open())).rejects.toThrow(reason);
});

it('a status that is not of the participant itself is waited for', async () => {
  participant.fail('/v2/state/ledger-end', { status: 404, body: 'default backend - 404' }, 1);
  expect((await seedOf(open())).filter(isMark)).toHaveLength(1);
});

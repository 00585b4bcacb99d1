import { expect, it } from 'vitest';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { openSource } from '../../support/ledger-api/open-source.ts';

const LINES = participantLedger(51, 250);
const PARTIES = ownersIn(LINES);

// One of 3.6 says the time of its end, so that nothing but the stream stands before the mark.
const participant = freshParticipant({ lines: LINES, minor: 6 });
const NO_PAGES = { status: 404, body: 'The requested resource could not be found.' };

it('a streamed seed that is aborted has no mark', async () => {
  participant.fail('/v2/state/active-contracts-page', NO_PAGES);
  participant.failStreams({ after: 7, does: 'silent' });
  const stop = new AbortController();
  const source = openSource({ url: participant.url, parties: PARTIES });
  const texts: string[] = [];
  const reading = (async () => {
    for await (const batch of source.batches(stop.signal))
      if (!('identity' in batch)) texts.push(...batch.map(({ bytes }) => Buffer.from(bytes!).toString()));
  })();
  await expect.poll(() => source.telemetry!().seedContracts).toBeGreaterThan(0);
  stop.abort();
  await reading;
  expect(texts.filter((text) => text.startsWith('{"seed":{'))).toEqual([]);
});

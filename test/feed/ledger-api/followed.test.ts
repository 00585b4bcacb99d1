import { beforeEach, describe, expect, it } from 'vitest';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { followedLines, seenLines, TEMPLATES } from '../../support/ledger-api/participant-ledger.ts';
import { serveParticipant } from '../../support/ledger-api/serve.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = participantLedger(51, 250);
/** Those that own most but one, so that coins of others are seen that one of these has locked or observes. */
const OWNERS = ownersIn(LINES);
const FOLLOWED = OWNERS.slice(1, 4);
const SEEN = seenLines(LINES, { parties: FOLLOWED, templates: TEMPLATES });
const END = { source: { position: String(offsetOf(LINES.at(-1)!)) } };

const directory = freshDirectory();
const participant = freshParticipant({ lines: LINES });
let data: string;
beforeEach(() => {
  data = directory.at('data');
});

const options = (more: object = {}): Record<string, unknown> => {
  const parties = FOLLOWED.join(',');
  return { data, ledgerApi: participant.url, ledgerApiParties: parties, start: 'beginning', dso: DSO, ...more };
};

/** Without the coins of others that are remembered so that their archives are recognised. */
function counted({ counterfeit: _, ...views }: ReturnType<typeof dumpViews>): object {
  return views;
}

async function wanted(): Promise<object> {
  const own = followedLines(SEEN, FOLLOWED);
  expect(own.join()).not.toEqual(SEEN.join());
  await replayInto(directory.at('wanted'), [directory.writeLines('own.ndjson', own)], { dso: DSO });
  return counted(dumpViews(directory.at('wanted')));
}

describe('only coins of followed owners count', () => {
  it.each(['named', 'all'])('where they are %s', async (how) => {
    participant.change({ localParties: FOLLOWED });
    await using service = await serveParticipant(options(how === 'all' ? { ledgerApiParties: 'all' } : {}));
    await service.until('/status', {
      ...END,
      counts: { ignored: { 'coin of an owner that is not followed': expect.any(Number) } },
    });
    await service.until('/readyz', { ready: true, degraded: [] });
    await service[Symbol.asyncDispose]();
    expect(counted(dumpViews(data))).toEqual(await wanted());
  });

  it('and a local party that comes later is named', async () => {
    participant.change({ localParties: FOLLOWED.slice(1) });
    {
      await using service = await serveParticipant(options({ ledgerApiParties: 'all' }));
      await service.until('/status', END);
    }
    participant.change({ localParties: FOLLOWED });
    await using service = await serveParticipant(options({ ledgerApiParties: 'all' }));
    await service.until('/readyz', {
      ready: true,
      degraded: [
        `${FOLLOWED[0]} came to the participant later and is not followed: a new --data directory follows it too`,
      ],
    });
  });
});

describe('after files', () => {
  it('it begins at the earliest update there is, where that is not after theirs and all owners in them are followed', async () => {
    const own = followedLines(SEEN, FOLLOWED);
    const file = directory.writeLines('files.ndjson', own.slice(0, 150));
    await replayInto(data, [file], { dso: DSO });
    participant.change({ prunedUpTo: offsetOf(own[149]!) + 8 });
    {
      const gap = directory.at('gap');
      await replayInto(gap, [file], { dso: DSO });
      await using service = await serveParticipant(options({ data: gap }));
      await service.until('/readyz', {
        ready: false,
        reasons: [expect.stringMatching(/^possible gap: the files end at/)],
      });
    }
    participant.change({ prunedUpTo: offsetOf(own[80]!) });
    {
      await using service = await serveParticipant(options({ ledgerApiParties: FOLLOWED[0] }));
      const partial = /^these views have coins of .* does not follow: its sums would be partial/;
      await service.until('/readyz', { ready: false, reasons: [expect.stringMatching(partial)] });
    }
    await using service = await serveParticipant(options());
    await service.until('/status', END);
    await service[Symbol.asyncDispose]();
    expect(counted(dumpViews(data))).toEqual(await wanted());
  });
});

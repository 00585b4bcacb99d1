import { beforeEach, describe, expect, it } from 'vitest';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES } from '../../support/ledger-api/participant-ledger.ts';
import { serveParticipant } from '../../support/ledger-api/serve.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const directory = freshDirectory();
const participant = freshParticipant();
let data: string;
beforeEach(() => {
  data = directory.at('data');
});

describe('serve --ledger-api --start beginning', () => {
  it.each([1, 2, 3])('builds the views of the same updates read from a file (seed %i)', async (seed) => {
    const lines = participantLedger(seed, 300);
    const parties = ownersIn(lines);
    const seen = seenLines(lines, { parties, templates: TEMPLATES });
    await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', seen)], { dso: DSO });
    participant.add(...lines.slice(0, 200));
    const options = {
      data,
      ledgerApi: participant.url,
      ledgerApiParties: parties.join(','),
      start: 'beginning',
      dso: DSO,
    };
    {
      await using service = await serveParticipant(options);
      await service.until('/readyz', { ready: true, reasons: [], degraded: [] });
      participant.add(...lines.slice(200, 250));
      await service.until('/status', { counts: { updates: expect.any(Number) } });
    }
    participant.add(...lines.slice(250));
    await using service = await serveParticipant(options);
    await service.until('/readyz', { ready: true });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data)).toEqual(dumpViews(directory.at('wanted')));
    expect((await holdfast('verify', '--data', data)).stdout).toMatch(/^equal: /);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { ERRORS } from '../../support/ledger-api/errors.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES, timesAt } from '../../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../../support/ledger-api/seed-lines.ts';
import { serveParticipant } from '../../support/ledger-api/serve.ts';
import { startFakeParticipant } from '../../support/ledger-api/server.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = participantLedger(12, 300);
const PARTIES = ownersIn(LINES);
const SEEN = seenLines(LINES, { parties: PARTIES, templates: TEMPLATES });
/** Where the seed is made, and where the service is stopped. */
const [SEEDED, STOPPED] = [200, 260];

const directory = freshDirectory();
const participant = freshParticipant({ lines: LINES.slice(0, SEEDED) });
let data: string;
beforeEach(() => {
  data = directory.at('data');
});

const options = (more: object = {}): Record<string, unknown> => {
  return { data, ledgerApi: participant.url, ledgerApiParties: PARTIES.join(','), dso: DSO, ...more };
};

/** The views of the same seed and of the updates behind it, read from a file. */
async function wanted(): Promise<ReturnType<typeof dumpViews>> {
  const offset = offsetOf(LINES[SEEDED - 1]!);
  const times = timesAt(LINES, offset);
  const behind = SEEN.filter((line) => offsetOf(line) > offset);
  const file = directory.writeLines('wanted.ndjson', [...seedLines(SEEN, { offset, times }), ...behind]);
  await replayInto(directory.at('wanted'), [file], { dso: DSO });
  return dumpViews(directory.at('wanted'));
}

describe('serve --ledger-api in an empty directory', () => {
  it.each([4, 5, 6] as const)(
    'begins with the active contracts of a participant 3.%i, and goes on behind them',
    async (minor) => {
      participant.change({ minor });
      {
        await using service = await serveParticipant(options());
        await service.until('/status', { seeded_at: expect.any(String), source: { network: { stopped: null } } });
        participant.add(...LINES.slice(SEEDED, STOPPED));
        await service.until('/readyz', { ready: true, reasons: [], degraded: [] });
      }
      participant.add(...LINES.slice(STOPPED));
      await using service = await serveParticipant(options());
      await service.until('/readyz', { ready: true });
      await service[Symbol.asyncDispose]();
      expect(dumpViews(data)).toEqual(await wanted());
      expect((await holdfast('verify', '--data', data)).stdout).toMatch(/^equal: /);
    },
  );

  it('is not ready until the time of its seed is known', async () => {
    await using slow = await startFakeParticipant({ lines: LINES.slice(0, SEEDED), checkpointMs: 3_600_000 });
    await using service = await serveParticipant(options({ ledgerApi: slow.url }));
    await service.until('/readyz', {
      ready: false,
      reasons: [expect.stringMatching(/^waiting for the time of offset/), 'no snapshot is sealed yet'],
    });
    expect(dumpViews(data).snapshot).toEqual([]);
  });

  it('of which half is there may begin anew with other parties, as after a mistake in their names', async () => {
    participant.change({ readAs: PARTIES });
    {
      await using service = await serveParticipant(options({ ledgerApiParties: `${PARTIES.join(',')},typo::1220aa` }));
      await service.until('/readyz', {
        reasons: expect.arrayContaining([expect.stringMatching(/CanReadAs for each/)]),
      });
    }
    await using service = await serveParticipant(options());
    participant.add(...LINES.slice(SEEDED));
    await service.until('/status', { source: { position: String(offsetOf(LINES.at(-1)!)) } });
  });

  it.each([
    ['a stream that is cut', 4, 'cut'],
    ['a page that fails', 5, null],
    ['a token that expires', 4, ERRORS.expired],
    ['contracts that are pruned meanwhile', 5, 'pruned'],
  ] as const)('survives %s', async (_, minor, fault) => {
    participant.change({ minor });
    if (fault === 'pruned')
      participant.fail(
        '/v2/state/active-contracts-page',
        { status: 400, body: { code: 'PARTICIPANT_PRUNED_DATA_ACCESSED', cause: 'pruned' } },
        1,
      );
    else if (fault === null) participant.fail('/v2/state/active-contracts-page', ERRORS.starting, 2);
    else participant.failStreams({ after: 7, does: fault }, { after: 3, does: fault });
    await using service = await serveParticipant(options());
    await service.until('/status', { seeded_at: expect.any(String) });
    participant.add(...LINES.slice(SEEDED));
    await service.until('/status', { source: { position: String(offsetOf(LINES.at(-1)!)) } });
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data)).toEqual(await wanted());
  });
});

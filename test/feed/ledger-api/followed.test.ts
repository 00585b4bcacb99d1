import { beforeEach, describe, expect, it } from 'vitest';
import type { Serving } from '../../support/feed/serve.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { followedLines, seenLines, TEMPLATES, timesAt } from '../../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../../support/ledger-api/seed-lines.ts';
import { serveParticipant } from '../../support/ledger-api/serve.ts';
import { holdfast } from '../../support/program/command.ts';
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

/** Of an owner who is not followed nobody is told a part of the sum. */
async function expectRefusals(service: Serving): Promise<void> {
  const [other, own] = [OWNERS[0]!, FOLLOWED[0]!];
  const snapshot = ((await service.get('/holdfast/v1/snapshots')) as unknown as { snapshots: object[] }).snapshots[0]!;
  const { record_time } = snapshot as Record<string, unknown>;
  const asked = { migration_id: 0, record_time, owner_party_ids: [own, other] };
  const refusal = { error: expect.stringMatching(`^${other}: not followed here: this service reads a participant`) };
  for (const path of ['/v0/holdings/summary', '/v1/holdings/summary'])
    expect(await service.post(path, asked)).toEqual([400, refusal]);
  for (const path of ['/v0/holdings/state', '/v1/holdings/state'])
    expect(await service.post(path, { ...asked, page_size: 10 })).toEqual([400, refusal]);
  const party = encodeURIComponent(other);
  for (const path of [
    `/holdfast/v1/owners/${party}/history`,
    `/holdfast/v1/owners/${party}/changes`,
    `/holdfast/v1/stream?owner=${party}`,
  ])
    expect(await service.get(path)).toEqual(refusal);
  expect(await service.post('/v0/holdings/summary', { ...asked, owner_party_ids: [own] })).toEqual([
    400,
    { error: 'No open mining rounds found: the participant that this service reads shows none; give as_of_round.' },
  ]);
  const [status, found] = await service.post('/v0/holdings/summary', {
    ...asked,
    owner_party_ids: [own],
    as_of_round: 1,
  });
  expect([status, found]).toMatchObject([200, { summaries: [{ party_id: own }] }]);
  for (const command of [
    ['summary', '--owner', other],
    ['history', '--owner', other],
  ])
    expect(await holdfast(...command, '--data', data)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not followed here'),
    });
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
    if (how === 'named') await expectRefusals(service);
    await service[Symbol.asyncDispose]();
    expect(counted(dumpViews(data))).toEqual(await wanted());
  });

  it('and a local party that comes later is named, and one that is gone', async () => {
    participant.change({ localParties: FOLLOWED.slice(1) });
    {
      await using service = await serveParticipant(options({ ledgerApiParties: 'all' }));
      await service.until('/status', END);
    }
    participant.change({ localParties: FOLLOWED.slice(0, 2) });
    await using service = await serveParticipant(options({ ledgerApiParties: 'all' }));
    await service.until('/readyz', {
      ready: true,
      degraded: [
        `${FOLLOWED[0]} came to the participant later and is not followed: a new --data directory follows it too`,
        `${FOLLOWED[2]} is followed and no longer local to the participant: what becomes of its coins is not read`,
      ],
    });
  });
});

describe('before files', () => {
  const own = followedLines(SEEN, FOLLOWED);
  it('one that leaves a gap is refused, and one that overlaps is applied', async () => {
    participant.lines.splice(0, Infinity, ...LINES.filter((line) => offsetOf(line) <= offsetOf(own[100]!)));
    {
      await using service = await serveParticipant(options());
      await service.until('/status', { source: { position: String(offsetOf(own[100]!)) } });
    }
    const gap = directory.writeLines('gap.ndjson', own.slice(130));
    expect(await holdfast('replay', gap, '--data', data)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`gap.ndjson begins with record time`),
    });
    const overlap = directory.writeLines('overlap.ndjson', own.slice(60));
    expect(await holdfast('replay', overlap, '--data', data)).toMatchObject({ code: 0 });
    participant.lines.splice(0, Infinity, ...LINES);
    await using service = await serveParticipant(options());
    await service.until('/status', END);
    await service[Symbol.asyncDispose]();
    expect(counted(dumpViews(data))).toEqual(await wanted());
  });
});

describe('after files', () => {
  const own = followedLines(SEEN, FOLLOWED);
  const last = offsetOf(own[99]!);
  const mark = { offset: last, times: timesAt(own, last) };
  it.each([
    ['updates', own.slice(0, 100)],
    ['a seed', seedLines(own, mark)],
  ])('that end with %s it is not ready before it has shown anything of theirs', async (_, lines) => {
    await replayInto(data, [directory.writeLines('files.ndjson', lines)], { dso: DSO });
    participant.change({ prunedUpTo: offsetOf(LINES.at(-1)!) });
    await using service = await serveParticipant(options());
    await service.until('/readyz', {
      ready: false,
      reasons: [expect.stringMatching(/^not known yet to continue the files/)],
    });
    await service.until('/status', { source: { ...END.source, network: { caught_up_at: null } } });
  });

  it('a participant that was never pruned and began later leaves a gap', async () => {
    await replayInto(data, [directory.writeLines('files.ndjson', own.slice(0, 100))], { dso: DSO });
    const later = LINES.filter((line) => offsetOf(line) > offsetOf(own[120]!));
    participant.lines.splice(0, Infinity, ...later);
    await using service = await serveParticipant(options());
    await service.until('/readyz', {
      ready: false,
      reasons: [expect.stringMatching(/^possible gap: the files end at/)],
    });
  });

  it('it begins at the earliest update there is, where that is not after theirs and all owners in them are followed', async () => {
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

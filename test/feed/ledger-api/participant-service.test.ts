import { describe, expect, it } from 'vitest';
import { type Serving, serveSources } from '../../support/feed/serve.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import {
  followedLines,
  interfaceOf,
  seenLines,
  TEMPLATES,
  timesAt,
} from '../../support/ledger-api/participant-ledger.ts';
import { seedLines } from '../../support/ledger-api/seed-lines.ts';
import { holdfast } from '../../support/program/command.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = participantLedger(55, 250, { token: 0.2 });
const OWNERS = ownersIn(LINES);
const interfaces = (['V1', 'V2'] as const).map(interfaceOf);
const ALL_SEEN = seenLines(LINES, { parties: OWNERS, templates: TEMPLATES, interfaces });
/** Those that own most but one, so that coins of others are seen that one of these has locked or observes. */
const FOLLOWED = OWNERS.slice(1, 4);
const SEEN = seenLines(LINES, { parties: FOLLOWED, templates: TEMPLATES, interfaces });
const OWN = followedLines(SEEN, FOLLOWED);
const lastOf = (lines: readonly string[]): string => String(offsetOf(lines.at(-1)!));
const END = { source: { position: lastOf(LINES) } };

const directory = freshDirectory();
const participant = freshParticipant({ lines: LINES });
const data = (): string => directory.at('data');

function serve(parties: readonly string[] | 'all', more: object = {}): Promise<Serving> {
  const named = { ledgerApi: participant.url, ledgerApiParties: parties === 'all' ? 'all' : parties.join(',') };
  return serveSources({ migrationId: '0', data: data(), ...named, start: 'beginning', dso: DSO, ...more });
}

const replay = (name: string, lines: readonly string[], more: object = {}): Promise<unknown> =>
  replayInto(directory.at(name), [directory.writeLines(`${name}.ndjson`, lines)], { dso: DSO, ...more });

/** Without the coins of others that are remembered so that their archives are recognised. */
function counted({ counterfeit: _, ...views }: ReturnType<typeof dumpViews>): object {
  return views;
}

async function expectViews(lines: readonly string[]): Promise<void> {
  await replay('wanted', lines);
  expect(counted(dumpViews(data()))).toEqual(counted(dumpViews(directory.at('wanted'))));
  expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
}

describe('serve --ledger-api', () => {
  it('--start beginning builds the views of the same updates read from a file, also over a restart', async () => {
    participant.lines.splice(200);
    {
      await using service = await serve(OWNERS);
      await service.until('/readyz', { ready: true, reasons: [], degraded: [] });
    }
    participant.add(...LINES.slice(200));
    {
      await using service = await serve(OWNERS);
      await service.until('/status', END);
    }
    await expectViews(ALL_SEEN);
  });

  it('begins with the active contracts, and goes on', async () => {
    participant.change({ readAs: OWNERS });
    participant.lines.splice(150);
    {
      // A mistake in the names: the import restarts with others.
      await using service = await serve([...OWNERS, 'typo::1220aa'], { start: 'snapshot' });
      const reasons = expect.arrayContaining([expect.stringMatching(/CanReadAs for each/)]);
      await service.until('/readyz', { ready: false, reasons });
    }
    {
      await using service = await serve(OWNERS, { start: 'snapshot' });
      await service.until('/status', { seeded_at: expect.any(String), source: { network: { stopped: null } } });
      participant.add(...LINES.slice(150));
      await service.until('/readyz', { ready: true, reasons: [], degraded: [] });
      await service.until('/status', END);
    }
    const offset = Number(lastOf(LINES.slice(0, 150)));
    const behind = ALL_SEEN.filter((line) => offsetOf(line) > offset);
    await expectViews([...seedLines(ALL_SEEN, { offset, times: timesAt(LINES, offset) }), ...behind]);
  });
});

it('a directory that began without tokens never asks for them, whatever is known meanwhile', async () => {
  participant.lines.splice(200);
  {
    await using service = await serve(OWNERS, { tokens: 'off' });
    await service.until('/readyz', { ready: true });
  }
  participant.add(...LINES.slice(200));
  {
    await using service = await serve(OWNERS);
    await service.until('/status', END);
  }
  expect(JSON.stringify(participant.asked)).not.toContain('InterfaceFilter');
  const seen = seenLines(LINES, { parties: OWNERS, templates: TEMPLATES });
  await replay('wanted', seen, { tokens: 'off' });
  expect(dumpViews(data())).toEqual(dumpViews(directory.at('wanted')));
});

/** A client is not given a part of the sum of an owner who is not followed. */
async function expectRefusals(service: Serving): Promise<void> {
  const [other, own] = [OWNERS[0]!, FOLLOWED[0]!];
  const { snapshots } = (await service.get('/holdfast/v1/snapshots')) as { snapshots?: { record_time: string }[] };
  const { record_time } = snapshots![0]!;
  const asked = { migration_id: 0, record_time, owner_party_ids: [own, other] };
  const refusal = { error: expect.stringMatching(`^${other}: not followed here: this service reads a participant`) };
  for (const path of ['/v0/holdings/summary', '/v1/holdings/summary'])
    expect(await service.post(path, asked)).toEqual([400, refusal]);
  for (const path of ['/v0/holdings/state', '/v1/holdings/state'])
    expect(await service.post(path, { ...asked, page_size: 10 })).toEqual([400, refusal]);
  const party = encodeURIComponent(other);
  for (const path of [`owners/${party}/history`, `owners/${party}/changes`, `stream?owner=${party}`])
    expect(await service.get(`/holdfast/v1/${path}`)).toEqual({ ...refusal, code: 'refused' });
  const alone = { ...asked, owner_party_ids: [own] };
  expect(await service.post('/v0/holdings/summary', alone)).toEqual([
    400,
    { error: 'No open mining rounds found: the participant that this service reads shows none; give as_of_round.' },
  ]);
  const found = await service.post('/v0/holdings/summary', { ...alone, as_of_round: 1 });
  expect(found).toMatchObject([200, { summaries: [{ party_id: own }] }]);
  for (const command of ['summary', 'history'])
    expect(await holdfast(command, '--owner', other, '--data', data())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not followed here'),
    });
}

it('only coins of followed owners count, and nobody else can be asked for', async () => {
  {
    await using service = await serve(FOLLOWED);
    const ignored = { 'coin of an owner that is not followed': expect.any(Number) };
    await service.until('/status', { ...END, counts: { ignored } });
    await service.until('/readyz', { ready: true, degraded: [] });
    await expectRefusals(service);
  }
  expect(OWN.join()).not.toEqual(SEEN.join());
  await expectViews(OWN);
});

describe('a participant after files', () => {
  const notReady = (reason: RegExp): object => ({ ready: false, reasons: [expect.stringMatching(reason)] });
  const CASES: readonly (readonly [string, readonly string[], object, RegExp])[] = [
    [
      'that end with updates is not ready before it has shown anything of theirs',
      OWN.slice(0, 100),
      { prunedUpTo: Number(lastOf(LINES)) },
      /^not known yet to continue the files/,
    ],
    [
      'that was pruned behind their end leaves a gap',
      OWN.slice(0, 150),
      { prunedUpTo: offsetOf(OWN[149]!) + 8 },
      /^possible gap: the files end at/,
    ],
  ];
  it.each(CASES)('%s', async (_, lines, change, reason) => {
    await replay('data', lines);
    participant.change(change);
    await using service = await serve(FOLLOWED);
    await service.until('/readyz', notReady(reason));
    await service.until('/status', { source: { network: { caught_up_at: null } } });
  });

  it('begins at the earliest update there is, where all owners in the files are followed', async () => {
    await replay('data', OWN.slice(0, 150));
    participant.change({ prunedUpTo: offsetOf(OWN[80]!) });
    {
      await using service = await serve(FOLLOWED.slice(0, 1));
      await service.until(
        '/readyz',
        notReady(/^these views have coins of .* does not follow: its sums would be partial/),
      );
    }
    {
      await using service = await serve(FOLLOWED);
      await service.until('/status', END);
    }
    await expectViews(OWN);
  });
});

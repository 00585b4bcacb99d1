import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCertificates } from '../../support/kafka/certificates.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { type ApiError, ERRORS, pruned } from '../../support/ledger-api/errors.ts';
import { freshParticipant } from '../../support/ledger-api/fresh-participant.ts';
import { DSO, ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES } from '../../support/ledger-api/participant-ledger.ts';
import { serveParticipant } from '../../support/ledger-api/serve.ts';
import { startFakeParticipant } from '../../support/ledger-api/server.ts';
import { freshDirectory } from '../../support/program/fresh-directory.ts';
import { replayInto } from '../../support/views/replayed.ts';
import { dumpViews } from '../../support/views/views-dump.ts';

const LINES = participantLedger(22, 120);
const PARTIES = ownersIn(LINES);
const SEEN = seenLines(LINES, { parties: PARTIES, templates: TEMPLATES });
const END = String(offsetOf(LINES.at(-1)!));

const directory = freshDirectory();
const participant = freshParticipant({ lines: LINES });
let data: string;
beforeEach(() => {
  data = directory.at('data');
});

const options = (more: object = {}): Record<string, unknown> => {
  const parties = PARTIES.join(',');
  return { data, ledgerApi: participant.url, ledgerApiParties: parties, start: 'beginning', dso: DSO, ...more };
};
const ALL = { source: { position: END, network: { stopped: null } } };
const refused = (reason: RegExp): object => ({
  ready: false,
  reasons: expect.arrayContaining([expect.stringMatching(reason)]),
});

describe('a stream', () => {
  it('that ends in any way is opened again behind the last element, and nothing is missing or twice', async () => {
    const token = directory.at('token');
    writeFileSync(token, 'secret-word\n');
    participant.change({ token: 'secret-word' });
    const { expired, stale, overloaded, unauthenticated } = ERRORS;
    const faults = ['cut', 'close', 'half', expired, stale, overloaded, unauthenticated] as const;
    await replayInto(directory.at('wanted'), [directory.writeLines('feed.ndjson', SEEN)], { dso: DSO });
    participant.failStreams(...faults.map((does, i) => ({ after: 4 + i, does })));
    await using service = await serveParticipant(options({ ledgerApiTokenFile: token }));
    await service.until('/status', ALL);
    const begins = participant.asked
      .filter(({ path }) => path === '/v2/updates')
      .map(({ body }) => body.beginExclusive);
    expect(begins).toHaveLength(faults.length + 1);
    expect(new Set(begins).size).toBe(begins.length);
    expect(JSON.stringify(service.log)).not.toContain('secret-word');
    await service[Symbol.asyncDispose]();
    expect(dumpViews(data)).toEqual(dumpViews(directory.at('wanted')));
  });

  it('is opened with the token of the moment; one that expires in the middle is replaced', async () => {
    const token = directory.at('token');
    writeFileSync(token, 'old');
    participant.change({ token: 'old' });
    participant.lines.splice(60);
    await using service = await serveParticipant(options({ ledgerApiTokenFile: token }));
    await service.until('/status', { source: { network: { lag_seconds: 0, caught_up_at: expect.any(String) } } });
    writeFileSync(token, 'new');
    participant.change({ token: 'new' });
    participant.add(...LINES.slice(60));
    await service.until('/status', ALL);
    expect(service.log.some(({ message }) => /not encrypted/.test(message))).toBe(true);
    expect(participant.asked.at(-1)!.token).toBe('new');
  });
});

describe('what will not pass by itself is refused, with what to do', () => {
  const cases: readonly (readonly [string, ApiError | string, RegExp])[] = [
    ['a missing right', ERRORS.denied, /needs CanReadAs for each of --ledger-api-parties$/],
    ['a request that it does not take', ERRORS.invalid, /INVALID_ARGUMENT/],
    ['updates that are pruned', pruned(5000), /removed its updates up to offset 5000, .* --start snapshot/],
    ['an element without end', 'oversized', /sends an element of more than 16777216 bytes/],
  ];
  it.each(cases)('%s', async (_, does, reason) => {
    participant.failStreams({ after: 5, does: does as ApiError });
    await using service = await serveParticipant(options());
    await service.until('/readyz', refused(reason));
    await service.until('/status', { phase: 'refused', halted: null });
  });

  it('a redirect', async () => {
    participant.fail('/v2/updates', { status: 302, body: '', headers: { location: 'https://elsewhere.example/' } });
    await using service = await serveParticipant(options());
    await service.until('/readyz', refused(/answers 302, which refers to https:\/\/elsewhere\.example\/$/));
  });

  it('--start beginning of a participant that has pruned', async () => {
    participant.change({ prunedUpTo: 40 });
    await using service = await serveParticipant(options());
    await service.until('/readyz', refused(/^--start beginning: .* up to offset 40: begin with --start snapshot/));
    expect(dumpViews(data).holding).toEqual([]);
  });

  it('another participant, one restored from a backup, and other parties', async () => {
    {
      await using service = await serveParticipant(options());
      await service.until('/status', ALL);
    }
    const before = dumpViews(data);
    const [first, ...others] = PARTIES;
    const wrong: [object, object, RegExp][] = [
      [
        { participantId: 'other::1220' },
        {},
        /^these views were built from participant participant1::1220ab, and this is other/,
      ],
      [{}, { ledgerApiParties: others.join(',') }, new RegExp(`leaves out ${first}, which these views follow`)],
      [
        {},
        { ledgerApiParties: [...PARTIES, 'new::1220'].join(',') },
        /names new::1220, which these views do not follow/,
      ],
      [{ localParties: PARTIES }, { ledgerApiParties: 'all' }, /--ledger-api-parties says all: give it as before/],
    ];
    for (const [change, more, reason] of wrong) {
      participant.change(change);
      await using service = await serveParticipant(options(more));
      await service.until('/readyz', refused(reason));
      participant.change({ participantId: 'participant1::1220ab' });
    }
    participant.lines.splice(50);
    await using service = await serveParticipant(options());
    await service.until('/readyz', refused(/^offset \d+, behind which .* is past the end .* restored from a backup/));
    expect(dumpViews(data)).toEqual(before);
  });
});

describe('what may pass is waited for, and readiness says what', () => {
  it('a participant that is not there, is starting, or knows no coins yet', async () => {
    participant.change({ templates: [] });
    participant.fail('/v2/parties/participant-id', ERRORS.starting, 2);
    await using service = await serveParticipant(options());
    await service.until('/readyz', refused(/SERVICE_NOT_RUNNING/));
    await service.until('/readyz', refused(/does not know the coins of package splice-amulet yet/));
    participant.change({ templates: ['Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet'] });
    await service.until('/status', ALL);
    await service.until('/readyz', {
      degraded: [expect.stringMatching(/OpenMiningRound: no open round is read of it$/)],
    });
  });
});

describe('a participant with TLS', () => {
  it('is read where --ledger-api-ca names its authority, and says so where not', async () => {
    const { ca, broker } = await createCertificates(directory.path);
    const pem = readFileSync(broker, 'utf8');
    await using secured = await startFakeParticipant({ lines: LINES, tls: { cert: pem, key: pem } });
    {
      await using service = await serveParticipant(options({ ledgerApi: secured.url }));
      await service.until('/readyz', refused(/--ledger-api-ca names the file of the authority/));
    }
    await using service = await serveParticipant(options({ ledgerApi: secured.url, ledgerApiCa: ca }));
    await service.until('/status', ALL);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { type ReadSource, waitFor } from '../../support/feed/read-source.ts';
import { createCertificates } from '../../support/kafka/certificates.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { contentOf, type WireElement } from '../../support/ledger-api/elements.ts';
import { type ApiError, ERRORS, pruned } from '../../support/ledger-api/errors.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import { seenLines, TEMPLATES } from '../../support/ledger-api/participant-ledger.ts';
import { readParticipant } from '../../support/ledger-api/read-participant.ts';
import {
  type FakeParticipant,
  type FakeParticipantOptions,
  startFakeParticipant,
} from '../../support/ledger-api/server.ts';
import { temporaryDirectory } from '../../support/program/temporary-directory.ts';

const LINES = participantLedger(22, 120);
const PARTIES = ownersIn(LINES);
const SEEN = seenLines(LINES, { parties: PARTIES, templates: TEMPLATES });
const END = String(offsetOf(LINES.at(-1)!));
const says = (text: RegExp): unknown => expect.stringMatching(text);

async function startParticipant(
  { onTestFinished }: TestContext,
  options: FakeParticipantOptions = {},
): Promise<FakeParticipant> {
  const participant = await startFakeParticipant({ lines: LINES, ...options });
  onTestFinished(() => participant[Symbol.asyncDispose]());
  return participant;
}

const updatesIn = (lines: readonly string[]): string[] => lines.filter((line) => !line.includes('OffsetCheckpoint'));

async function expectAll(reading: ReadSource): Promise<void> {
  await reading.until({ stopped: null, position: END });
  expect(updatesIn(reading.lines)).toEqual(updatesIn(SEEN));
}

describe('a stream', () => {
  it.concurrent('that ends in any way is opened again behind the last element, and nothing is missing', async (context) => {
    using directory = temporaryDirectory();
    const tokenFile = directory.at('token');
    writeFileSync(tokenFile, 'secret-word\n');
    const participant = await startParticipant(context, { token: 'secret-word' });
    const { expired, stale, overloaded, unauthenticated } = ERRORS;
    const faults = ['cut', 'close', 'half', expired, stale, overloaded, unauthenticated] as const;
    participant.failStreams(...faults.map((does, i) => ({ after: 4 + i, does })));
    await using reading = await readParticipant(participant, { parties: PARTIES, tokenFile });
    await expectAll(reading);
    const begins = participant.asked
      .filter(({ path }) => path === '/v2/updates')
      .map(({ body }) => body.beginExclusive);
    expect(begins).toHaveLength(faults.length + 1);
    expect(new Set(begins).size).toBe(begins.length);
    expect(JSON.stringify(reading.log)).not.toContain('secret-word');
  });

  it.concurrent('is opened with the token of the moment; one that expires in the middle is replaced', async (context) => {
    using directory = temporaryDirectory();
    const tokenFile = directory.at('token');
    writeFileSync(tokenFile, 'old');
    const participant = await startParticipant(context, { token: 'old', lines: LINES.slice(0, 60) });
    await using reading = await readParticipant(participant, { parties: PARTIES, tokenFile });
    await reading.until({ lagSeconds: 0, caughtUpAt: expect.any(Number) });
    writeFileSync(tokenFile, 'new');
    participant.change({ token: 'new' });
    participant.add(...LINES.slice(60));
    await expectAll(reading);
    expect(reading.log.some(({ message }) => /not encrypted/.test(message))).toBe(true);
    expect(participant.asked.at(-1)!.token).toBe('new');
  });

  it.concurrent('is not moved by the offset of an element that cannot be read', async (context) => {
    const { kind, value } = contentOf(JSON.parse(LINES[5]!) as WireElement);
    const far = { ...value, recordTime: 'never', offset: Number.MAX_SAFE_INTEGER };
    const bad = JSON.stringify({ update: { [kind]: { value: far } } });
    const participant = await startParticipant(context, { lines: [...LINES.slice(0, 5), bad, ...LINES.slice(5)] });
    await using reading = await readParticipant(participant, { parties: PARTIES });
    await waitFor(() => expect(updatesIn(reading.lines)).toHaveLength(updatesIn(SEEN).length + 1));
  });
});

describe('what will not pass by itself is refused, with what to do', () => {
  const refusal = async (participant: FakeParticipant, settings = {}, context = {}): Promise<string> => {
    await using reading = await readParticipant(participant, { parties: PARTIES, ...settings }, context);
    return await reading.refusal();
  };

  const STREAMS: readonly (readonly [string, ApiError | 'oversized', RegExp])[] = [
    ['a missing right', ERRORS.denied, /needs CanReadAs for each of --ledger-api-parties$/],
    ['a request that it does not take', ERRORS.invalid, /INVALID_ARGUMENT/],
    ['updates that are pruned', pruned(5000), /removed its updates up to offset 5000, .* --start snapshot/],
    ['an element without end', 'oversized', /sends an element of more than 16777216 bytes/],
  ];
  it.concurrent.for(STREAMS)('%s', async ([, does, reason], context) => {
    const participant = await startParticipant(context);
    participant.failStreams({ after: 5, does });
    expect(await refusal(participant)).toMatch(reason);
  });

  it.concurrent('--start beginning of a participant that has pruned', async (context) => {
    const participant = await startParticipant(context, { prunedUpTo: 40 });
    expect(await refusal(participant)).toMatch(/^--start beginning: .* up to offset 40: begin with --start snapshot/);
  });

  const [first, ...others] = PARTIES;
  const OTHERS: readonly (readonly [string, FakeParticipantOptions, object, RegExp])[] = [
    [
      'another participant',
      { participantId: 'other::1220' },
      {},
      /^these views were built from participant participant1::1220ab, and this is other/,
    ],
    ['a party less', {}, { parties: others }, new RegExp(`leaves out ${first}, which these views follow`)],
    ['a party more', {}, { parties: [...PARTIES, 'new::1220'] }, /names new::1220, which these views do not follow/],
    [
      'one restored from a backup',
      { lines: LINES.slice(0, 50) },
      {},
      /^offset \d+, behind which .* is past the end .* restored from a backup/,
    ],
  ];
  it.concurrent.for(OTHERS)('%s', async ([, change, settings, reason], context) => {
    await using before = await readParticipant(await startParticipant(context), { parties: PARTIES });
    await expectAll(before);
    const participant = await startParticipant(context, change);
    expect(await refusal(participant, settings, before.context())).toMatch(reason);
  });
});

describe('what may pass is waited for, and readiness says what', () => {
  it.concurrent('a participant that is starting, or knows no coins yet', async (context) => {
    const participant = await startParticipant(context, { templates: [] });
    participant.fail('/v2/parties/participant-id', ERRORS.starting, 2);
    await using reading = await readParticipant(participant, { parties: PARTIES });
    await reading.until({ stopped: says(/SERVICE_NOT_RUNNING/) });
    await reading.until({ stopped: says(/does not know the coins of package splice-amulet yet/) });
    participant.change({ templates: ['Splice.Amulet:Amulet', 'Splice.Amulet:LockedAmulet'] });
    await reading.until({
      position: END,
      degraded: [says(/OpenMiningRound: no open round is read of it$/)],
    });
  });

  it.concurrent('a redirect, which is not followed', async (context) => {
    const participant = await startParticipant(context);
    participant.fail('/v2/updates', { status: 302, body: '', headers: { location: 'https://elsewhere.example/' } });
    await using reading = await readParticipant(participant, { parties: PARTIES });
    await reading.until({ stopped: says(/answers 302, which refers to https:\/\/elsewhere\.example\/$/) });
  });

  it.concurrent('one with TLS is read where --ledger-api-ca names its authority, and says so where not', async (context) => {
    using directory = temporaryDirectory();
    const { ca, broker } = await createCertificates(directory.path);
    const pem = readFileSync(broker, 'utf8');
    const secured = await startParticipant(context, { tls: { cert: pem, key: pem } });
    await using unknown = await readParticipant(secured, { parties: PARTIES });
    await unknown.until({ stopped: says(/--ledger-api-ca names the file of the authority/) });
    await using reading = await readParticipant(secured, { parties: PARTIES, ca: readFileSync(ca, 'utf8') });
    await expectAll(reading);
  });
});

describe('all local parties', () => {
  it.concurrent('are followed; one that comes later is named, and one that is gone', async (context) => {
    const participant = await startParticipant(context, { localParties: PARTIES.slice(1) });
    await using before = await readParticipant(participant, { parties: 'all' });
    await before.until({ stopped: null, position: END, degraded: [] });
    expect(before.starts).toMatchObject([{ followed: PARTIES.slice(1).sort() }]);
    participant.change({ localParties: PARTIES.slice(0, -1) });
    await using reading = await readParticipant(participant, { parties: 'all' }, before.context());
    await reading.until({
      degraded: [
        `${PARTIES[0]} came to the participant later and is not followed: a new --data directory follows it too`,
        `${PARTIES.at(-1)} is followed and no longer local to the participant: what becomes of its coins is not read`,
      ],
    });
  });
});

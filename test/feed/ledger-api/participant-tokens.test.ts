import { describe, expect, it, type TestContext } from 'vitest';
import type { LedgerApiSettings } from '../../../src/feed/network/network-settings.ts';
import type { SourceContext } from '../../../src/feed/source.ts';
import { type ReadSource, valuesOf } from '../../support/feed/read-source.ts';
import { offsetOf } from '../../support/ledger-api/answers.ts';
import { apiError } from '../../support/ledger-api/errors.ts';
import { ownersIn, participantLedger } from '../../support/ledger-api/ledger.ts';
import {
  type HoldingVersion,
  interfaceOf,
  seenLines,
  TEMPLATES,
  timesAt,
} from '../../support/ledger-api/participant-ledger.ts';
import { readParticipant } from '../../support/ledger-api/read-participant.ts';
import { seedLines } from '../../support/ledger-api/seed-lines.ts';
import {
  type FakeParticipant,
  type FakeParticipantOptions,
  startFakeParticipant,
} from '../../support/ledger-api/server.ts';

const LINES = participantLedger(7, 200, { token: 0.4 });
const PARTIES = ownersIn(LINES);
const END = String(offsetOf(LINES.at(-1)!));
const [V1, V2] = [
  { packageName: 'splice-api-token-holding-v1', name: interfaceOf('V1') },
  { packageName: 'splice-api-token-holding-v2', name: interfaceOf('V2') },
];
const NO_V2 = `the participant does not know #${V2.packageName}:${V2.name}: holdings are read by version 1 alone`;
const NONE = `the participant does not know #${V2.packageName}:${V2.name} and #${V1.packageName}:${V1.name}: no token is read of it`;

async function startParticipant(
  { onTestFinished }: TestContext,
  options: FakeParticipantOptions = {},
): Promise<FakeParticipant> {
  const participant = await startFakeParticipant({ lines: LINES, ...options });
  onTestFinished(() => participant[Symbol.asyncDispose]());
  return participant;
}

const read = (
  participant: FakeParticipant,
  settings: Partial<LedgerApiSettings> = {},
  context: Partial<SourceContext> = {},
): Promise<ReadSource> => readParticipant(participant, { parties: PARTIES, ...settings }, context);

const seenWith = (versions: readonly HoldingVersion[]): string[] =>
  seenLines(LINES, { parties: PARTIES, templates: TEMPLATES, interfaces: versions.map(interfaceOf) });
const updatesIn = (lines: readonly string[]): string[] => lines.filter((line) => !line.includes('OffsetCheckpoint'));

/** The versions that each stream asked for. */
function askedFor({ asked }: FakeParticipant): string[] {
  const streams = asked.filter(({ path }) => path === '/v2/updates').map(({ body }) => JSON.stringify(body));
  return streams.map((body) => ['V2', 'V1'].filter((version) => body.includes(`Holding${version}`)).join(' '));
}

const warnings = ({ log }: ReadSource): string[] =>
  log.map(({ message }) => message).filter((message) => /does not know/.test(message));

describe('holdings of the token standard', () => {
  const KNOWN: readonly (readonly [string, readonly HoldingVersion[], readonly string[]])[] = [
    ['both versions', ['V1', 'V2'], []],
    ['version 1 alone', ['V1'], [NO_V2]],
    ['neither', [], [NONE]],
  ];
  it.concurrent.for(KNOWN)('are read of a participant that knows %s', async ([, holdings, said], context) => {
    const participant = await startParticipant(context, { holdings });
    // The stream that is refused counts too.
    participant.failStreams(...['', ...said].map(() => ({ after: 7, does: 'cut' }) as const));
    await using reading = await read(participant);
    await reading.until({ stopped: null, position: END, degraded: [] });
    expect(updatesIn(reading.lines)).toEqual(updatesIn(seenWith(holdings)));
    expect(warnings(reading)).toEqual(said);
    const versions = holdings.toReversed().join(' ');
    const [first, ...others] = askedFor(participant);
    expect(first).toBe('V2 V1');
    expect(others.at(-1)).toBe(versions);
    // Both are asked for first at each connection.
    expect(askedFor(participant).filter((each) => each === 'V2 V1')).toHaveLength(2);
  });

  it.concurrent('are asked for by the version whose package came meanwhile, once the stream is opened again', async (context) => {
    const participant = await startParticipant(context, { holdings: ['V1'], lines: LINES.slice(0, 100) });
    await using reading = await read(participant);
    await reading.until({ stopped: null, position: String(offsetOf(LINES[99]!)) });
    participant.change({ holdings: ['V1', 'V2'] });
    participant.cut();
    participant.add(...LINES.slice(100));
    await reading.until({ stopped: null, position: END });
    expect(askedFor(participant).at(-1)).toBe('V2 V1');
  });

  it.concurrent('are asked for one version less each time, where the participant does not name what it does not know', async (context) => {
    const participant = await startParticipant(context);
    const unnamed = apiError('NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', { status: 404, grpc: 5, cause: 'no' });
    participant.failStreams({ after: 0, does: unnamed }, { after: 0, does: unnamed });
    await using reading = await read(participant);
    await reading.until({ stopped: null, position: END });
    expect(askedFor(participant)).toEqual(['V2 V1', 'V1', '']);
    expect(warnings(reading)).toHaveLength(2);
  });

  it.concurrent.for([
    ['by the setting', { tokens: false }, {}],
    ['by what is stored', {}, { stored: { identity: null, lanes: new Map(), tokens: false } }],
  ] as const)('are not asked for where they are off %s', async ([, settings, context], test) => {
    const participant = await startParticipant(test);
    await using reading = await read(participant, settings, context);
    await reading.until({ stopped: null, position: END });
    expect(updatesIn(reading.lines)).toEqual(updatesIn(seenWith([])));
    const { body } = participant.asked.find(({ path }) => path === '/v2/updates')!;
    const cumulative = TEMPLATES.map((name) => ({
      identifierFilter: {
        TemplateFilter: { value: { templateId: `#splice-amulet:${name}`, includeCreatedEventBlob: false } },
      },
    }));
    const eventFormat = {
      filtersByParty: Object.fromEntries(PARTIES.toSorted().map((party) => [party, { cumulative }])),
      verbose: false,
    };
    expect(body.updateFormat).toEqual({
      includeTransactions: { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA', eventFormat },
      includeReassignments: eventFormat,
    });
  });

  it.concurrent.for(KNOWN)(
    'are imported with their views of a participant that knows %s',
    async ([, holdings, said], context) => {
      const participant = await startParticipant(context, { holdings, minor: 6 });
      await using reading = await read(participant, { start: 'snapshot' });
      await reading.until({ stopped: null, position: END });
      const seed = seedLines(seenWith(holdings), { offset: Number(END), times: timesAt(LINES, Number(END)) });
      expect(valuesOf(reading.lines)).toEqual(expect.arrayContaining(valuesOf(seed.slice(0, -1))));
      const viewed = reading.lines.filter((line) => line.includes('"interface_views":[{'));
      expect(viewed.length > 0).toBe(holdings.length > 0);
      expect(warnings(reading)).toEqual(said);
    },
  );
});

import { spawnSync } from 'node:child_process';
import { describe, expect, inject, it } from 'vitest';
import { openDeadLetters } from '../../../../src/views/store/dead-letter-store.ts';
import { type Serving, serveScan, serveSources } from '../../../support/feed/serve.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { parseLedger, partyOf } from '../../../support/ledger/parse-ledger.ts';
import { startFakeParticipant } from '../../../support/ledger-api/server.ts';
import { holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { MAIN } from '../../../support/program/program.ts';
import { programEnv } from '../../../support/program/soak.ts';
import { startFakeScan } from '../../../support/scan/server.ts';
import { type Format, linesOf } from '../../../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const data = (): string => directory.at('data');

const KNOWN = ['00:01 =a : +a alice 10 ; +b bob 20', '00:01:10 =b : +c carol 30 locked', '00:01:40 =c : -b ; +d bob 5'];
const DSO = partyOf('DSO');

/** Reads what is known, and then more; returns once that is redelivered, or halts. */
type Deliver = (more: string, until: 'redelivered' | 'halted') => Promise<void>;

function linesBehind(more: string, format: Format): readonly [known: readonly string[], more: readonly string[]] {
  const lines = linesOf(parseLedger([...KNOWN, more].join('\n')), format);
  return [lines.slice(0, KNOWN.length), lines.slice(KNOWN.length)];
}

interface Replayed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const replayFile = (lines: readonly string[]): Promise<Replayed> =>
  holdfast('replay', '--data', data(), directory.writeLines('file.ndjson', lines));

/** Through standard input. */
async function replayInput(lines: readonly string[]): Promise<Replayed> {
  const options = { input: `${lines.join('\n')}\n`, encoding: 'utf8', env: programEnv() } as const;
  const { status, ...said } = spawnSync(process.execPath, [MAIN, 'replay', '--data', data(), '-'], options);
  return { ...said, code: status };
}

function files(format: Format, replay: typeof replayFile): Deliver {
  return async (text) => {
    const [known, more] = linesBehind(text, format);
    expect(await replay(known)).toMatchObject({ code: 0 });
    expect(await replay(more)).toMatchObject({ code: 3, stdout: expect.stringMatching(/redelivered [01];/) });
  };
}

const untilKnown = (service: Serving): Promise<void> => service.until('/status', { counts: { updates: KNOWN.length } });
const NEXT = { redelivered: { counts: { redelivered: 1 } }, halted: { phase: 'halted' } };

/** Of several partitions each has a synchronizer, and those behind the first wait for it. */
function topic(format: Format, partitions: number): Deliver {
  return async (text, until) => {
    const [known, more] = linesBehind(text, format);
    const made = await createTopic(address, { partitions });
    const others = linesOf(parseLedger('00:30 @s2 =o : +o olga 1\n00:31 @s3 =p : +p olga 1'), format);
    await made.send([
      ...known.map((value) => ({ partition: 0, value })),
      ...others.slice(0, partitions - 1).map((value, i) => ({ partition: i + 1, value })),
    ]);
    await using service = await serveSources({ data: data(), kafkaBrokers: address, kafkaTopic: made.name });
    await untilKnown(service);
    await made.send(more.map((value) => ({ partition: 0, value })));
    await service.until('/status', NEXT[until]);
  };
}

/** After a restart a Scan is asked again for its last minute. */
const scan: Deliver = async (text, until) => {
  const [known, more] = linesBehind(text, 'scan');
  const idOf = (line: string): string => /"update_id":"[^"]*"/.exec(line)![0];
  const ids = more.map(idOf);
  const network = { dso: DSO, migrationId: 0 };
  for (const lines of [known, [...known.filter((line) => !ids.includes(idOf(line))), ...more]]) {
    await using server = await startFakeScan({ lines, ...network });
    await using service = await serveScan({ data: data(), scan: server.url, start: 'beginning' });
    if (lines === known) await untilKnown(service);
    else await service.until('/status', until === 'halted' ? NEXT.halted : { counts: { redelivered: KNOWN.length } });
  }
};

const participant: Deliver = async (text, until) => {
  const [known, more] = linesBehind(text, 'acs-delta');
  const localParties = ['alice', 'bob', 'carol'].map(partyOf);
  await using server = await startFakeParticipant({ lines: known, localParties });
  const followed = { ledgerApi: server.url, ledgerApiParties: 'all', migrationId: '0', dso: DSO };
  await using service = await serveSources({ data: data(), start: 'beginning', ...followed });
  await untilKnown(service);
  server.add(...more);
  await service.until('/status', NEXT[until]);
};

const RESUMING: readonly (readonly [string, Deliver])[] = [
  ['a topic of one partition', topic('ledger-api', 1)],
  ['a topic of several partitions', topic('scan', 3)],
  ['a Scan', scan],
  ['a participant', participant],
];
const SOURCES: typeof RESUMING = [
  ['a file of format A', files('scan', replayFile)],
  ['a file of format B', files('ledger-api', replayFile)],
  ['standard input', files('acs-delta', replayInput)],
  ...RESUMING,
];
const SAME = KNOWN.at(-1)!;
const CASES = [
  ['an archive in another order behind an update that is the same', `${SAME}\n00:01:30 =x : -a`],
  ['an update with another amount', '00:01:40 =c : -b ; +d bob 6'],
] as const;

describe.each(SOURCES)('through %s', (_, deliver) => {
  it.each(CASES)('%s is disorder', async (_name, more) => {
    await deliver(more, 'halted');
    using deadLetters = openDeadLetters(data());
    expect(deadLetters.list().map(({ code }) => code)).toEqual(['disorder']);
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });
});

it.each(RESUMING)('a file that begins behind what %s has brought is refused', async (_, deliver) => {
  await deliver(SAME, 'redelivered');
  const gap = expect.stringContaining('so that updates between them may be missing');
  const linesIn = (format: Format): readonly string[] =>
    linesBehind('00:01:50 =y : -d\n00:02 =z : +e alice 1', format)[1];
  expect(await replayFile(linesIn('scan').slice(1))).toMatchObject({ code: 2, stderr: gap });
  expect(await replayInput(linesIn('acs-delta').slice(1))).toMatchObject({ code: 2, stderr: gap });
  // Where it begins at the last update applied, nothing is missing.
  const [known] = linesBehind(SAME, 'ledger-api');
  const overlapping = await replayFile([known.at(-1)!, ...linesIn('ledger-api')]);
  expect(overlapping).toMatchObject({ code: 0, stdout: expect.stringContaining('redelivered 1;') });
});

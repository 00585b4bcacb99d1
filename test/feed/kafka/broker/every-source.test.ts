import { spawnSync } from 'node:child_process';
import { describe, expect, inject, it } from 'vitest';
import { startFakeScan } from '../../../../demo/local-scan.ts';
import { openDeadLetters } from '../../../../src/views/store/dead-letter-store.ts';
import { type Serving, serveScan, serveSources } from '../../../support/feed/serve.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { parseLedger, partyOf } from '../../../support/ledger/parse-ledger.ts';
import { startFakeParticipant } from '../../../support/ledger-api/server.ts';
import { holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { MAIN } from '../../../support/program/program.ts';
import { programEnv } from '../../../support/program/soak.ts';
import { type Format, linesOf } from '../../../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const data = (): string => directory.at('data');

const KNOWN = ['00:01 =a : +a alice 10 ; +b bob 20', '00:01:10 =b : +c carol 30 locked', '00:01:40 =c : -b ; +d bob 5'];
const DSO = partyOf('DSO');

/** Reads what is known, and then that again with what is disorder; returns once both bad updates are quarantined. */
type Deliver = (more: string) => Promise<void>;

function linesBehind(more: string, format: Format): readonly [known: readonly string[], more: readonly string[]] {
  const lines = linesOf(parseLedger([...KNOWN, more].join('\n')), format);
  return [lines.slice(0, KNOWN.length), lines.slice(KNOWN.length)];
}

interface Replayed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const QUARANTINE = { onBadUpdate: 'quarantine' };
const replayed = (...files: readonly string[]): readonly string[] => [
  'replay',
  '--on-bad-update',
  'quarantine',
  '--data',
  data(),
  ...files,
];

type Replay = (lines: readonly string[]) => Promise<Replayed>;
const replayFile: Replay = (lines) => holdfast(...replayed(directory.writeLines('file.ndjson', lines)));
const replayInput: Replay = async (lines) => {
  const options = { input: `${lines.join('\n')}\n`, encoding: 'utf8', env: programEnv() } as const;
  const { status, ...said } = spawnSync(process.execPath, [MAIN, ...replayed('-')], options);
  return { ...said, code: status };
};

function files(format: Format, replay: Replay): Deliver {
  return async (text) => {
    const [known, more] = linesBehind(text, format);
    expect(await replay(known)).toMatchObject({ code: 0 });
    const told = { code: 3, stdout: expect.stringMatching(/redelivered 1; dead letters 2;/) };
    expect(await replay(more)).toMatchObject(told);
  };
}

const untilKnown = (service: Serving): Promise<void> => service.until('/status', { counts: { updates: KNOWN.length } });
const untilTold = (service: Serving, redelivered: number): Promise<void> =>
  service.until('/status', { counts: { redelivered }, dead_letters: { quarantined: 2 } });

/** Of several partitions each has a synchronizer, and those behind the first wait for it. */
function topic(format: Format, partitions: number): Deliver {
  return async (text) => {
    const [known, more] = linesBehind(text, format);
    const made = await createTopic(address, { partitions });
    const others = linesOf(parseLedger('00:30 @s2 =o : +o olga 1\n00:31 @s3 =p : +p olga 1'), format);
    await made.send([
      ...known.map((value) => ({ partition: 0, value })),
      ...others.slice(0, partitions - 1).map((value, i) => ({ partition: i + 1, value })),
    ]);
    const read = { kafkaBrokers: address, kafkaTopic: made.name };
    await using service = await serveSources({ data: data(), ...read, ...QUARANTINE });
    await untilKnown(service);
    await made.send(more.map((value) => ({ partition: 0, value })));
    await untilTold(service, 1);
  };
}

/** After a restart a Scan is asked again for its last minute. */
const scan: Deliver = async (text) => {
  const [known, more] = linesBehind(text, 'scan');
  const idOf = (line: string): string => /"update_id":"[^"]*"/.exec(line)![0];
  const ids = more.map(idOf);
  const network = { dso: DSO, migrationId: 0 };
  for (const lines of [known, [...known.filter((line) => !ids.includes(idOf(line))), ...more]]) {
    await using server = await startFakeScan({ lines, ...network });
    await using service = await serveScan({ data: data(), scan: server.url, start: 'beginning', ...QUARANTINE });
    await (lines === known ? untilKnown(service) : untilTold(service, KNOWN.length));
  }
};

const participant: Deliver = async (text) => {
  const [known, more] = linesBehind(text, 'acs-delta');
  const localParties = ['alice', 'bob', 'carol'].map(partyOf);
  await using server = await startFakeParticipant({ lines: known, localParties });
  const followed = { ledgerApi: server.url, ledgerApiParties: 'all', migrationId: '0', dso: DSO };
  await using service = await serveSources({ data: data(), start: 'beginning', ...followed, ...QUARANTINE });
  await untilKnown(service);
  server.add(...more);
  await untilTold(service, 1);
};

const SAME = KNOWN.at(-1)!;
const OTHER_ORDER = '00:01:30 =x : -a';
const OTHER_AMOUNT = '00:01:40 =c : -b ; +d bob 6';

async function expectDisorder(deliver: Deliver): Promise<void> {
  await deliver([SAME, OTHER_ORDER, OTHER_AMOUNT].join('\n'));
  using deadLetters = openDeadLetters(data());
  expect(deadLetters.list().map(({ code }) => code)).toEqual(['disorder', 'disorder']);
  expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
}

describe('an archive in another order behind an update that is the same, and an update with another amount', () => {
  it.each([
    ['a file of format A', files('scan', replayFile)],
    ['a file of format B', files('ledger-api', replayFile)],
    ['standard input', files('acs-delta', replayInput)],
  ] as const)('are disorder through %s', (_, deliver) => expectDisorder(deliver));

  it.each([
    ['a topic of one partition', topic('ledger-api', 1), replayFile, 'scan'],
    ['a topic of several partitions', topic('scan', 3), replayInput, 'acs-delta'],
    ['a Scan', scan, replayFile, 'ledger-api'],
    ['a participant', participant, replayInput, 'scan'],
  ] as const)(
    'are disorder through %s, behind which a file that begins later is refused',
    async (...[, deliver, replay, format]) => {
      await expectDisorder(deliver);
      const gap = expect.stringContaining('so that updates between them may be missing');
      const [known, more] = linesBehind('00:01:50 =y : -d\n00:02 =z : +e alice 1', format);
      expect(await replay(more.slice(1))).toMatchObject({ code: 2, stderr: gap });
      // Where it begins at the last update applied, nothing is missing.
      const overlapping = { code: 0, stdout: expect.stringContaining('redelivered 1;') };
      expect(await replayFile([known.at(-1)!, ...more])).toMatchObject(overlapping);
    },
  );
});

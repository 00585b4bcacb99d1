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
import { ledgerCases } from '../../../support/views/outcome.ts';
import { type Format, linesOf } from '../../../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const data = (): string => directory.at('data');

const KNOWN = ['00:01 =a : +a alice 10 ; +b bob 20', '00:01:10 =b : +c carol 30 locked', '00:01:40 =c : -b ; +d bob 5'];
const DSO = partyOf('DSO');

/** Reads what is known, and then more. Says what came of that: `halted`, or how many updates were redelivered. */
type Deliver = (more: string) => Promise<number | 'halted'>;

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
    const { code, stdout } = await replay(more);
    if (code === 3) return 'halted';
    expect(code).toBe(0);
    return Number(/redelivered (\d+);/.exec(stdout)![1]);
  };
}

/** Waits until a service has applied what is known, or until what it does next. */
const untilKnown = (service: Serving): Promise<void> => service.until('/status', { counts: { updates: KNOWN.length } });

async function untilNext(service: Serving): Promise<number | 'halted'> {
  let next: number | 'halted' = 0;
  await expect
    .poll(async () => {
      const { phase, counts } = (await service.get('/status')) as { phase: string; counts: { redelivered: number } };
      next = phase === 'halted' ? phase : counts.redelivered;
      return next;
    })
    .not.toBe(0);
  return next;
}

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
    await using service = await serveSources({ data: data(), kafkaBrokers: address, kafkaTopic: made.name });
    await untilKnown(service);
    await made.send(more.map((value) => ({ partition: 0, value })));
    return await untilNext(service);
  };
}

/** After a restart a Scan is asked again for its last minute. */
const scan: Deliver = async (text) => {
  const [known, more] = linesBehind(text, 'scan');
  const idOf = (line: string): string => /"update_id":"[^"]*"/.exec(line)![0];
  const shown = [known, [...known.filter((line) => !more.some((each) => idOf(each) === idOf(line))), ...more]];
  let next: number | 'halted' = 0;
  for (const [i, lines] of shown.entries()) {
    await using server = await startFakeScan({ lines, dso: DSO, migrationId: 0 });
    await using service = await serveScan({ data: data(), scan: server.url, start: 'beginning' });
    if (i === 0) await untilKnown(service);
    else next = await untilNext(service);
  }
  return next;
};

const participant: Deliver = async (text) => {
  const [known, more] = linesBehind(text, 'acs-delta');
  const localParties = ['alice', 'bob', 'carol'].map(partyOf);
  await using server = await startFakeParticipant({ lines: known, localParties });
  const followed = { ledgerApi: server.url, ledgerApiParties: 'all', migrationId: '0', dso: DSO };
  await using service = await serveSources({ data: data(), start: 'beginning', ...followed });
  await untilKnown(service);
  server.add(...more);
  return await untilNext(service);
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
const CASES = ledgerCases(`
an archive in another order | 00:01:30 =x : -a | halted
an update with another amount | 00:01:40 =c : -b ; +d bob 6 | halted
an update without its archive | 00:01:40 =c : +d bob 5 | halted
an update that is the same | 00:01:40 =c : -b ; +d bob 5 | redelivered
`);

describe.each(SOURCES)('through %s', (_, deliver) => {
  it.each(CASES)('%s is found out behind what is known', async (_name, more, wanted) => {
    const next = await deliver(more);
    if (wanted === 'halted') expect(next).toBe('halted');
    else expect(next).toBeGreaterThan(0);
    using deadLetters = openDeadLetters(data());
    expect(deadLetters.list().map(({ code }) => code)).toEqual(wanted === 'halted' ? ['disorder'] : []);
    expect((await holdfast('verify', '--data', data())).stdout).toMatch(/^equal: /);
  });
});

it.each(RESUMING)('a file that begins behind what %s has brought is refused', async (_, deliver) => {
  expect(await deliver(KNOWN.at(-1)!)).toBeGreaterThan(0);
  for (const [format, replay] of [
    ['scan', replayFile],
    ['ledger-api', replayFile],
    ['acs-delta', replayInput],
  ] as const) {
    const text = [...KNOWN, '00:01:50 =y : -d', '00:02 =z : +e alice 1'];
    const lines = linesOf(parseLedger(text.join('\n')), format);
    const refused = await replay(lines.slice(-1));
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('so that updates between them may be missing'),
    });
    // Where it begins at the last update applied, nothing is missing.
    const overlapping = await replay(lines.slice(-3, -2));
    expect(overlapping).toMatchObject({ code: 0, stdout: expect.stringContaining('redelivered 1;') });
  }
});

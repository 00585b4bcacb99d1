import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { readBounds } from '../../../../src/feed/kafka/kafka-client.ts';
import { openSoleProducer, openSoleTopic } from '../../../../src/feed/kafka/topic-producer.ts';
import { expectViewsOf } from '../../../support/kafka/bridge.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { createTopic, plainConnection, readSent, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { createRandom } from '../../../support/ledger/random.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { runProgram, startProgram } from '../../../support/program/program.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { seededFeed } from '../../../support/scan/active-contracts.ts';
import { freshScan } from '../../../support/scan/fresh-scan.ts';
import { DSO, scanLedger, timeOf } from '../../../support/scan/ledger.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });
const LINES = scanLedger(72, 300);
const SEEDED_AT = timeOf(LINES[200]!);
const KILLS = soakCount(1);
/** So much in each contract that a seed takes several requests. */
const PADDED = `"event_type":"created_event","padding":"${'x'.repeat(30_000)}"`;

const argsFor = (topic: TestTopic, ...more: string[]): string[] => [
  ...['produce', '--scan', scan.url, '--kafka-brokers', address, '--kafka-topic', topic.name],
  ...['--scan-poll-interval', '100ms', '--scan-page-size', '20', ...more],
];

const valuesOf = async (topic: TestTopic): Promise<(string | null)[]> =>
  (await readTopic(address, topic.name)).map(({ value }) => value);

it('of two that both found the topic empty, one sends, and the other is refused', async () => {
  const { name } = await createTopic(address);
  const wanted = { connection: plainConnection(address), topic: name, create: null, logger: keepingLogger() };
  const topic = await openSoleTopic(wanted);
  await using first = await openSoleProducer(topic);
  const seed = (text: string) => [{ partition: 0, value: Buffer.from(text) }];
  await using second = await openSoleProducer(topic);
  expect([await first.ends(), await second.ends()]).toEqual([new Map(), new Map()]);
  const refused = `another process has begun to write to topic ${name}, and only one may`;
  await Promise.all([
    second.whole(() => second.send(seed('second'))),
    expect(first.whole(() => first.send(seed('first')))).rejects.toThrow(refused),
  ]);
  expect(await readSent(address, name)).toEqual([{ partition: 0, value: 'second' }]);
});

it.each([
  { kept: 2, aborted: 2_500 },
  { kept: 600, aborted: 1_900 },
])(
  'finds the $kept messages at the end of a topic also behind $aborted that were aborted',
  async ({ kept, aborted }) => {
    const topic = await createTopic(address);
    const rows = (text: string, count: number) => Array.from({ length: count }, () => ({ partition: 0, value: text }));
    await topic.sendTransaction(rows('kept', kept), 'commit');
    await topic.sendTransaction(rows('aborted', aborted), 'abort');
    const wanted = { connection: plainConnection(address), topic: topic.name, create: null, logger: keepingLogger() };
    await using producer = await openSoleProducer(await openSoleTopic(wanted));
    const ends = [...(await producer.ends())].map(([partition, values]) => ({ partition, values: values.map(String) }));
    expect(ends).toEqual([{ partition: 0, values: rows('kept', kept).map(({ value }) => value) }]);
  },
);

it('produce --follow ends where another one begins, which goes on behind it', async () => {
  const topic = await createTopic(address);
  const args = argsFor(topic, '--follow', '--start', 'beginning');
  scan.add(...LINES.slice(0, 100));
  await using first = startProgram(args);
  await expect.poll(async () => (await valuesOf(topic)).length).toBe(100);
  await using second = startProgram(args);
  const asked = scan.asked.length;
  const isRead = (): boolean =>
    scan.asked.slice(asked).filter(({ path }) => path.startsWith('/v0/dso-party-id')).length > 0;
  await expect.poll(isRead).toBe(true);
  scan.add(...LINES.slice(100));
  expect(await first.ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`another process has begun to write to topic ${topic.name}, and only one may`),
  });
  await expect.poll(async () => (await valuesOf(topic)).length).toBe(LINES.length);
  second.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ code: 0 });
  expect(await valuesOf(topic)).toEqual(LINES);
});

it(`produce killed with SIGKILL while it sends a seed, ${KILLS} times, leaves none of it to be read`, {
  timeout: 60_000 + KILLS * 20_000,
}, async () => {
  const random = createRandom(9);
  const topic = await createTopic(address);
  const padded = LINES.map((line) => line.replaceAll('"event_type":"created_event"', PADDED));
  scan.add(...padded);
  scan.change({ snapshots: [SEEDED_AT] });
  for (let killed = 0; killed < KILLS; killed++) {
    await using program = startProgram(argsFor(topic));
    const highOf = async (): Promise<number> =>
      (await topic.admin((admin) => readBounds(admin, topic.name))).get(0)!.high;
    const before = await highOf();
    await expect.poll(highOf, { interval: 10 }).toBeGreaterThan(before);
    await sleep(random.below(50));
    program.kill('SIGKILL');
    await program.ended;
  }
  expect(await runProgram(argsFor(topic))).toMatchObject({ code: 0 });
  await expectViewsOf(seededFeed(padded, { recordTime: SEEDED_AT }), topic, { directory, dso: DSO });
});

import { createWriteStream, type WriteStream } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import { counted } from '../../../../src/counted.ts';
import { createTopic, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { intoPartitions } from '../../../support/ledger/partitioned.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { type Ended, holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { type Program, runProgram, startProgram } from '../../../support/program/program.ts';
import { seedOf } from '../../../support/scan/active-contracts.ts';
import { freshScan } from '../../../support/scan/fresh-scan.ts';
import { scanLedger, timeOf } from '../../../support/scan/ledger.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const scan = freshScan({ migrationId: 0 });

const into = ({ name }: TestTopic): string[] => ['--kafka-brokers', address, '--kafka-topic', name];
const produced = (topic: TestTopic, lines: readonly string[]): Promise<Ended> =>
  holdfast('produce', directory.writeLines('feed.ndjson', lines), ...into(topic));
const valuesOf = async (topic: TestTopic): Promise<(string | null)[]> =>
  (await readTopic(address, topic.name)).map(({ value }) => value);
const updates = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => emptyUpdate('s', from + n));
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const saying = (topic: TestTopic, { sent, had }: { sent: number; had: number }): object => ({
  code: 0,
  stdout: `${counted(sent, 'message')} sent to topic ${topic.name}, 1 partition${had > 0 ? `; ${had} left out, up to where it ended` : ''}\n`,
});

describe('produce killed or overtaken in the middle', () => {
  const lines = updates(0, 40_000);

  /** Sends the lines through a pipe that does not end, until the topic has some of them. */
  async function beginning(topic: TestTopic): Promise<{ program: Program; input: WriteStream; had: number }> {
    const pipe = directory.namedPipe('pipe');
    const program = startProgram(['produce', pipe, ...into(topic)]);
    const input = createWriteStream(pipe).on('error', () => {});
    input.write(textOf(lines.slice(0, 35_000)));
    await expect.poll(async () => (await valuesOf(topic)).length).toBeGreaterThan(0);
    const had = (await valuesOf(topic)).length;
    expect(had).toBeLessThan(35_000);
    return { program, input, had };
  }

  it('SIGKILL: called again, also with standard input, it has sent each message once, in order', async () => {
    const topic = await createTopic(address);
    const { program, input, had } = await beginning(topic);
    program.kill('SIGKILL');
    await program.ended;
    input.destroy();
    const again = await runProgram(['produce', '-', ...into(topic)], {
      limits: `exec < ${directory.writeLines('feed.ndjson', lines)}`,
    });
    expect(again).toMatchObject(saying(topic, { sent: lines.length - had, had }));
    await expect.poll(() => valuesOf(topic)).toEqual(lines);
  });

  it('where a second one begins, that goes on behind what is there, and the first ends', async () => {
    const topic = await createTopic(address);
    const { program, input, had } = await beginning(topic);
    expect(await produced(topic, lines)).toMatchObject(saying(topic, { sent: lines.length - had, had }));
    input.end(textOf(lines.slice(35_000)));
    expect(await program.ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /another process has begun to write to topic .*; \d+ messages sent before; called again/,
      ),
    });
    await expect.poll(() => valuesOf(topic)).toEqual(lines);
  });
});

it('ends a bridge that writes the topic of a network, and continues it with files that have what it has', async () => {
  const lines = scanLedger(75, 200);
  const topic = await createTopic(address);
  scan.add(...lines.slice(0, 100));
  const following = ['--scan', scan.url, '--start', 'beginning', '--follow', '--scan-poll-interval', '100ms'];
  await using bridge = startProgram(['produce', ...following, ...into(topic)]);
  await expect.poll(async () => (await valuesOf(topic)).length).toBe(100);
  expect(await produced(topic, lines.slice(0, 150))).toMatchObject(saying(topic, { sent: 50, had: 100 }));
  scan.add(...lines.slice(100));
  expect(await bridge.ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('another process has begun to write'),
  });
  await expect.poll(() => valuesOf(topic)).toEqual(lines.slice(0, 150));
});

it('continues several partitions wherever they end, also with messages that are there again or cannot be read', async () => {
  const items = [...randomLedger(oddLedger(12, { synchronizers: 3, migrationId: 0 }))];
  const lines = intoPartitions(items, 1, ledgerApiLine).map(({ value }) => value);
  const unread = '{"not": "a feed"}';
  const again = [...lines.slice(0, 40), unread, lines[39]!, unread, ...lines.slice(30, 60), unread, ...lines.slice(60)];
  const whole = await createTopic(address, { partitions: 3 });
  expect(await produced(whole, again)).toMatchObject({ code: 0 });
  await expect.poll(async () => (await readTopic(address, whole.name)).length).toBeGreaterThanOrEqual(again.length);
  const rows = await readTopic(address, whole.name);
  expect(new Set(rows.map(({ partition }) => partition)).size).toBe(3);
  // Before and behind what is there again, and at a place where nothing is.
  for (const cut of [40, 41, 42, 43, 55, 73, 74, 150]) {
    const topic = await createTopic(address, { partitions: 3 });
    expect(await produced(topic, again.slice(0, cut))).toMatchObject({ code: 0 });
    const run = await produced(topic, again);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(`; ${cut} left out, up to where it ended\n$`) });
    await expect.poll(() => readTopic(address, topic.name)).toEqual(rows);
  }
});

it('continues within a seed, and behind one', async () => {
  const lines = scanLedger(76, 120);
  const feed = [...seedOf(lines, { recordTime: timeOf(lines[80]!) }), ...lines.slice(70)];
  const mark = feed.findIndex((line) => line.startsWith('{"seed"'));
  expect(mark).toBeGreaterThan(5);
  for (const cut of [mark - 3, mark + 1]) {
    const topic = await createTopic(address);
    await topic.send(feed.slice(0, cut).map((value) => ({ partition: 0, value })));
    expect(await produced(topic, feed)).toMatchObject(saying(topic, { sent: feed.length - cut, had: cut }));
    await expect.poll(() => valuesOf(topic)).toEqual(feed);
  }
});

it('continues within imports, which say no time, also where it looks at the last of them only', async () => {
  const imports = updates(0, 2_600).map((line) =>
    line.replace(/"record_time":"[^"]*"/, '"record_time":"0001-01-01T00:00:00Z"'),
  );
  const topic = await createTopic(address);
  await topic.send(imports.slice(0, 2_300).map((value) => ({ partition: 0, value })));
  expect(await produced(topic, imports)).toMatchObject(saying(topic, { sent: 300, had: 2_300 }));
  await expect.poll(() => valuesOf(topic)).toEqual(imports);
});

describe('produce into a topic that has messages', () => {
  const [had, unread] = [updates(10, 20), '{"not": "a feed"}'];
  const times = [{ synchronizerId: 's', recordTime: '2025-01-01T00:00:19Z' }];
  const checkpoint = JSON.stringify({
    update: { OffsetCheckpoint: { value: { offset: 9, synchronizerTimes: times } } },
  });
  const cases: { name: string; held: string[]; files: string[]; sent: number | RegExp }[] = [
    { name: 'with all that it has', held: had, files: had, sent: 0 },
    { name: 'with what came before it began', held: had, files: updates(0, 25), sent: 5 },
    { name: 'with its last update first', held: had, files: updates(19, 25), sent: 5 },
    { name: 'with later ones only', held: had, files: updates(20, 25), sent: 5 },
    { name: 'with later ones behind what cannot be read', held: had, files: [unread, ...updates(20, 25)], sent: 6 },
    { name: 'with what cannot be read, and is not there', held: had, files: [unread], sent: 1 },
    { name: 'with what cannot be read, and is its end', held: [...had, unread], files: [unread], sent: /the message/ },
    { name: 'with others', held: had, files: updates(0, 15), sent: /which these files do not have/ },
    {
      name: 'with one message that it ends with, unread',
      held: [...had, unread],
      files: [unread, ...updates(20, 25)],
      sent: /the message "\{\\"not\\".*only behind other messages/,
    },
    {
      name: 'with its last update, which is there twice',
      held: [...had, had[9]!],
      files: updates(19, 25),
      sent: /s-19 .*only behind other messages/,
    },
    {
      name: 'with the checkpoint that it ends with',
      held: [...had, checkpoint],
      files: [checkpoint, ...updates(20, 25)],
      sent: 5,
    },
    { name: 'with nothing', held: had, files: [], sent: 0 },
  ];
  it.each(cases)('$name', async ({ held, files, sent }) => {
    const topic = await createTopic(address);
    await topic.send(held.map((value) => ({ partition: 0, value })));
    const run = await produced(topic, files);
    const ok = typeof sent === 'number';
    expect(run).toMatchObject(
      ok ? saying(topic, { sent, had: files.length - sent }) : { code: 2, stderr: expect.stringMatching(sent) },
    );
    await expect.poll(() => valuesOf(topic)).toEqual(ok ? [...held, ...files.slice(files.length - sent)] : held);
  });

  it('looks at each partition by itself', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    const of = (name: string, ...at: number[]): string[] => at.map((second) => emptyUpdate(name, second));
    expect(await produced(topic, of('a', 0, 1, 2))).toMatchObject({ code: 0 });
    expect(await produced(topic, of('b', 0, 1))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^2 messages/),
    });
    // New ones of one of them, also again.
    for (const sent of [1, 0]) {
      const stdout = expect.stringMatching(new RegExp(`^${counted(sent, 'message')} `));
      expect(await produced(topic, of('b', 2))).toMatchObject({ code: 0, stdout });
    }
    const run = await produced(topic, [...of('b', 3, 4), ...of('a', 2, 3)]);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/^3 messages .*; 1 left out/) });
    const rows = [of('a', 0, 1, 2, 3), of('b', 0, 1, 2, 3, 4)].flatMap((lines, partition) =>
      lines.map((value) => ({ partition, value })),
    );
    await expect.poll(() => readTopic(address, topic.name)).toEqual(rows);
  });

  it.each([
    [
      'with a hole that a stopped call and a later file left',
      [...updates(0, 50), ...updates(100, 150)],
      updates(0, 150),
    ],
    [
      'with updates of another synchronizer between them',
      updates(0, 50),
      updates(0, 60).flatMap((line) => [line, line.replaceAll('"s', '"t')]),
    ],
  ])('refuses one %s', async (_, held, files) => {
    const topic = await createTopic(address);
    await topic.send(held.map((value) => ({ partition: 0, value })));
    expect(await produced(topic, files)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/partition 0 of topic .* ends with/),
    });
    await expect.poll(() => valuesOf(topic)).toEqual(held);
  });

  it('sends nothing again where its last messages are all of another synchronizer', async () => {
    const lines = [...updates(5_000, 5_010), ...Array.from({ length: 2_500 }, (_, second) => emptyUpdate('t', second))];
    const topic = await createTopic(address);
    await topic.send(lines.map((value) => ({ partition: 0, value })));
    expect(await produced(topic, lines)).toMatchObject(saying(topic, { sent: 0, had: lines.length }));
  });

  it('refuses a topic of which a partition has lost all by its retention', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    const lines = ['a', 'b'].map((name) => emptyUpdate(name, 1));
    await topic.send(lines.map((value, partition) => ({ partition, value })));
    await topic.cut(1, 1);
    const run = await produced(topic, lines);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('no longer has what was in partition 1') });
    await topic.cut(0, 1);
    expect(await produced(topic, lines)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('removed everything'),
    });
  });
});

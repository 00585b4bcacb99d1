import { createWriteStream } from 'node:fs';
import { expect, inject, it } from 'vitest';
import { createSender } from '../../../../src/cli/transfer/topic-sender.ts';
import { openTopicProducer, type ProducedRecord } from '../../../../src/feed/kafka/topic-producer.ts';
import { expectViewsOf } from '../../../support/kafka/bridge.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { createTopic, plainConnection, type Row, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { ledgerApiLine } from '../../../support/ledger/ledger-api-lines.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { intoPartitions } from '../../../support/ledger/partitioned.ts';
import { createRandom, type Random } from '../../../support/ledger/random.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { runProgram, startProgram } from '../../../support/program/program.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { DSO, scanLedger } from '../../../support/scan/ledger.ts';

const address = inject('kafka').addresses.plain;
const directory = freshDirectory();
const KILLS = soakCount(6);

class Killed extends Error {}

/** Sends lines until it is killed with a part of what it was sending stored, or to the end. */
async function sendUntilKilled(
  topic: TestTopic,
  lines: readonly string[],
  random: Random,
  after: number,
): Promise<void> {
  const logger = keepingLogger();
  const wanted = { connection: plainConnection(address), topic: topic.name, create: null, logger };
  await using producer = await openTopicProducer({ ...wanted, signal: new AbortController().signal });
  let left = after;
  const send = async (records: readonly ProducedRecord[]): Promise<void> => {
    left -= records.length;
    await producer.send(left > 0 ? records : records.slice(0, random.below(records.length + 1)));
    if (left <= 0) throw new Killed();
  };
  const sender = createSender({ ...producer, send }, await producer.tails(), { mayRepeat: true, logger });
  for (const [i, line] of lines.entries()) {
    await sender.add({ bytes: Buffer.from(line), offset: i + 1 }, 'feed');
    if (random.chance(0.1)) await sender.flush();
  }
  await sender.flush();
}

const REPAIRED = { synchronizers: 2, migrationId: 0, carriedOver: 60, importCreatesMax: 5, shares: { repair: 0.2 } };
const intervalOf = (value: string): number => {
  const time = /"record_?[tT]ime":"([^"]+)"/.exec(value)?.[1] ?? '';
  return Math.ceil(Date.parse(time) / 600_000);
};

it.each([
  { partitions: 2, format: 'Scan', lines: scanLedger(77, 200) },
  {
    partitions: 1,
    format: 'Ledger API',
    lines: intoPartitions(randomLedger(oddLedger(14, { ...REPAIRED, updates: 250 })), 1, ledgerApiLine).map(
      ({ value }) => value,
    ),
  },
])(
  `produce killed ${KILLS} times, and all of the last interval sent twice, gives the views of a replay: $format, $partitions`,
  async ({ partitions, format, lines }) => {
    const random = createRandom(5);
    const topic = await createTopic(address, { partitions });
    for (let kill = 0; kill < KILLS; kill++)
      await sendUntilKilled(topic, lines, random, random.below((2 * lines.length) / KILLS) + 1).catch(
        (error: unknown) => {
          if (!(error instanceof Killed)) throw error;
        },
      );
    await sendUntilKilled(topic, lines, random, Number.POSITIVE_INFINITY);
    const rows = await readTopic(address, topic.name);
    // A Scan's times rise: nothing is missing, and no repeat is behind its interval, where a decoder refuses it.
    if (format === 'Scan') {
      expect(new Set(rows.map(({ value }) => value))).toEqual(new Set(lines));
      for (const sent of Map.groupBy(rows, ({ partition }) => partition).values()) {
        const intervals = sent.map(({ value }) => intervalOf(value!));
        expect(intervals).toEqual(intervals.toSorted((a, b) => a - b));
      }
    }
    const last = Math.max(...rows.map(({ value }) => intervalOf(value!) || 0));
    const again: Row[] = rows.filter(({ value }) => intervalOf(value!) === last);
    expect(again).not.toEqual([]);
    await topic.send(again);
    await expectViewsOf(lines, topic, { directory, dso: DSO });
  },
);

it('produce killed with SIGKILL and called again with standard input has sent each message once, in order', async () => {
  // So long that what is sent first is sent before the rest is there.
  const note = 'x'.repeat(50_000);
  const lines = Array.from({ length: 300 }, (_, n) => emptyUpdate('s', n).replace(/}$/, `,"note":"${note}"}`));
  const topic = await createTopic(address);
  const to = ['--kafka-brokers', address, '--kafka-topic', topic.name];
  const pipe = directory.namedPipe('pipe');
  const valuesOf = async (): Promise<(string | null)[]> =>
    (await readTopic(address, topic.name)).map(({ value }) => value);
  {
    await using program = startProgram(['produce', pipe, ...to]);
    const input = createWriteStream(pipe).on('error', () => {});
    input.write(
      lines
        .slice(0, 250)
        .map((line) => `${line}\n`)
        .join(''),
    );
    await expect.poll(async () => (await valuesOf()).length).toBeGreaterThan(0);
    program.kill('SIGKILL');
    await program.ended;
    input.destroy();
  }
  const feed = directory.writeLines('feed.ndjson', lines);
  const again = await runProgram(['produce', '-', ...to], { limits: `exec < ${feed}` });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/ left out, up to where it ended\n$/) });
  expect(await valuesOf()).toEqual(lines);
});

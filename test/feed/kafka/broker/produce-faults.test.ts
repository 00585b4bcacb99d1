import { randomUUID } from 'node:crypto';
import { createWriteStream, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answeredWith, RETRY_PRODUCING } from '../../../../src/feed/kafka/kafka-errors.ts';
import { openPatientProducer, openSoleProducer, openSoleTopic } from '../../../../src/feed/kafka/topic-producer.ts';
import { retry } from '../../../../src/retry.ts';
import { type Broker, startBroker } from '../../../support/kafka/broker.ts';
import { withoutNotices } from '../../../support/kafka/notices.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { createTopic, plainConnection, readSent, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { startProgram } from '../../../support/program/program.ts';
import { scanLedger } from '../../../support/scan/ledger.ts';
import { startFakeScan } from '../../../support/scan/server.ts';

let broker: Broker;
let address: string;
beforeAll(async () => {
  broker = await startBroker({ heapMb: 256, restarts: true });
  address = broker.addresses.plain;
});
afterAll(() => broker[Symbol.asyncDispose]());

const directory = freshDirectory();

const updates = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => emptyUpdate('s', from + n));

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  await expect.poll(holds, { message: what }).toBe(true);
}

async function endOf(topic: TestTopic): Promise<number> {
  const offsets = await topic.admin((admin) => admin.fetchTopicOffsets(topic.name));
  return Number(offsets[0]!.high);
}

describe('produce to a broker that goes away', () => {
  it('waits for it, leaves nothing out, sends nothing twice and keeps the order', async () => {
    const topic = await createTopic(address);
    const rows = updates(0, 60_000);
    const pipe = directory.namedPipe('pipe');
    await using program = startProgram(['produce', pipe, '--kafka-brokers', address, '--kafka-topic', topic.name]);
    const input = createWriteStream(pipe);
    input.write(
      rows
        .slice(0, 30_000)
        .map((row) => `${row}\n`)
        .join(''),
    );
    await until('some are sent', async () => (await endOf(topic)) > 0);
    await broker.kill();
    input.end(
      rows
        .slice(30_000)
        .map((row) => `${row}\n`)
        .join(''),
    );
    await expect
      .poll(() => program.stderr())
      .toMatch(new RegExp(`cannot write to topic ${topic.name}: .*; waiting for it, for \\d+ s at most`));
    await broker.start();
    const { code, stdout } = await program.ended;
    expect([code, stdout]).toEqual([0, `60000 messages sent to topic ${topic.name}, 1 partition\n`]);
    const found = (await readSent(address, topic.name)).map((row) => row.value);
    expect(found).toEqual(rows);
  });

  it('gives up after a time, or when it is stopped, and then knows whether it was sent', async () => {
    const [one, two] = [await createTopic(address), await createTopic(address)];
    const stop = new AbortController();
    const logger = keepingLogger();
    const wanted = ({ name }: TestTopic) => ({
      connection: plainConnection(address),
      topic: name,
      create: null,
      logger,
    });
    await using first = await openPatientProducer({ ...wanted(one), signal: stop.signal, retryForMs: 1_000 });
    await using second = await openPatientProducer({ ...wanted(two), signal: stop.signal });
    const [before, after, other] = updates(0, 3).map((row) => [{ partition: 0, value: Buffer.from(row) }]);
    for (const producer of [first, second]) await producer.send(before!);
    await broker.kill();
    try {
      await expect(first.send(after!)).rejects.toThrow(`cannot write to topic ${one.name}: `);
      const stopped = expect(second.send(after!)).rejects.toThrow(`cannot write to topic ${two.name}: `);
      stop.abort();
      await stopped;
    } finally {
      await broker.start();
    }
    expect(logger.lines).toContainEqual({ level: 'warn', message: expect.stringContaining('waiting for it') });
    const written = async (topic: TestTopic, records: typeof before): Promise<void> => {
      // A broker that was just started may not know yet that it ends transactions.
      const open = async () => openSoleProducer(await openSoleTopic(wanted(topic)));
      await using sole = await retry(RETRY_PRODUCING, open);
      await sole.send(records!);
    };
    // As a broker does that stores a transaction and goes away before it says so.
    await written(one, after);
    // Where the topic ends can be seen by then: the first one looks there, for a second at most.
    await expect.poll(() => readTopic(address, one.name)).toHaveLength(2);
    await first.send(after!);
    expect((await readSent(address, one.name)).map(({ value }) => value)).toEqual(updates(0, 2));
    await written(two, other);
    await expect(second.send(after!)).rejects.toThrow(`another process has written to topic ${two.name}`);
  });
});

it('produce --scan --follow waits for a broker that goes away, and then sends each update once', async () => {
  const lines = scanLedger(73, 200);
  await using scan = await startFakeScan({ migrationId: 0, lines: lines.slice(0, 100) });
  const topic = await createTopic(address);
  await using program = startProgram([
    ...['produce', '--scan', scan.url, '--start', 'beginning', '--follow', '--scan-poll-interval', '100ms'],
    ...['--kafka-brokers', address, '--kafka-topic', topic.name],
  ]);
  const isThere = async (count: number): Promise<boolean> => (await readTopic(address, topic.name)).length === count;
  await until('the first half is sent', () => isThere(100));
  await broker.kill();
  scan.add(...lines.slice(100));
  await expect.poll(() => program.stderr()).toContain('; waiting for it"');
  await broker.start();
  await until('the rest is sent', () => isThere(200));
  program.kill('SIGTERM');
  expect(await program.ended).toMatchObject({
    code: 0,
    stdout: `200 messages sent to topic ${topic.name}, 1 partition\n`,
  });
  expect((await readSent(address, topic.name)).map(({ value }) => value)).toEqual(lines);
});

it('produce that fails in the middle says how much it sent', async () => {
  const topic = await createTopic(address);
  const file = directory.at('broken.ndjson.gz');
  writeFileSync(file, gzipSync(updates(0, 40_000).join('\n')).subarray(0, -2_000));
  const { code, stderr } = await holdfast('produce', file, '--kafka-brokers', address, '--kafka-topic', topic.name);
  const sent = (await readSent(address, topic.name)).length;
  expect(sent).toBeGreaterThan(0);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(
      `${file}, .*; ${sent} messages sent before; called again with the same files or input, it continues behind them`,
    ),
  );
});

describe('produce where a broker of two is down', () => {
  let second: Broker;
  beforeAll(async () => {
    second = await startBroker({ heapMb: 256, restarts: true, joins: broker });
  });
  afterAll(() => second[Symbol.asyncDispose]());

  /** A topic of one partition that only the second broker has. */
  async function topicOfSecond(): Promise<TestTopic> {
    const topic = await createTopic(address);
    await topic.admin(async (admin) => {
      await admin.deleteTopics({ topics: [topic.name] });
      const replicaAssignment = [{ partition: 0, replicas: [2] }];
      const topics = [{ topic: topic.name, replicaAssignment }];
      await until('made', () => admin.createTopics({ topics, waitForLeaders: false }).catch(() => false));
    });
    return topic;
  }

  async function untilLeaderless(topic: TestTopic): Promise<void> {
    const asked = (): Promise<boolean> =>
      topic.admin((admin) =>
        admin.fetchTopicMetadata({ topics: [topic.name] }).then(
          () => false,
          (error: unknown) => answeredWith(error, ['LEADER_NOT_AVAILABLE']),
        ),
      );
    await until('without a leader', asked);
  }

  it('is not stopped by topics that it does not concern, and waits for its own', async () => {
    const theirs = await topicOfSecond();
    const onFirst = `t-${randomUUID()}`;
    const file = directory.writeLines('feed.ndjson', updates(0, 5));
    await second.kill();
    await untilLeaderless(theirs);
    for (let attempt = 0; attempt < 2; attempt++) {
      const run = await holdfast('produce', file, '--kafka-brokers', address, '--kafka-topic', onFirst, '--create');
      expect([run.code, withoutNotices(run.stderr)]).toEqual([0, '']);
    }
    const missing = await holdfast('produce', file, '--kafka-brokers', address, '--kafka-topic', 'none-such');
    const none = `holdfast: there is no topic none-such on ${address}; --create creates it\n`;
    expect([missing.code, withoutNotices(missing.stderr)]).toEqual([2, none]);
    const run = holdfast('produce', file, '--kafka-brokers', address, '--kafka-topic', theirs.name);
    await second.start();
    expect(await run).toMatchObject({ code: 0 });
  });
});

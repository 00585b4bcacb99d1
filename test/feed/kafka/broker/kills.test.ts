import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFakeScan } from '../../../../demo/local-scan.ts';
import { createKafkaClient } from '../../../../src/feed/kafka/kafka-client.ts';
import { type Broker, startBroker } from '../../../support/kafka/broker.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { type Status, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, plainConnection, type Row, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { inMergeOrder, intoPartitions } from '../../../support/ledger/partitioned.ts';
import { createRandom } from '../../../support/ledger/random.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { type Program, startProgram } from '../../../support/program/program.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { scanLedger } from '../../../support/scan/ledger.ts';
import { replayInto } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

/** Of the older Kafka: the other tests read the newer one. */
let broker: Broker;
let address: string;
beforeAll(async () => {
  broker = await startBroker({ version: '3.9.1', heapMb: 256, restarts: true });
  address = broker.addresses.plain;
});
afterAll(() => broker[Symbol.asyncDispose]());

const directory = freshDirectory();
const USUAL = 2;
const KILLS = soakCount(USUAL);
const KILLS_PER_BROKER_RESTART = 4;
const SEED = KILLS === USUAL ? 1 : Date.now() % 1_000_000;
const PARTITIONS = 3;
const PIECE_ROWS = 25;
/** of the pieces that come with an earlier one before them */
const REDELIVERED = 0.1;

interface Consumer {
  readonly program: Program;
  position(): Promise<Readonly<Record<string, number>>>;
}

async function startConsumer({ name, address }: TestTopic, ...more: string[]): Promise<Consumer> {
  const topic = ['--kafka-brokers', address, '--kafka-topic', name];
  const program = startProgram(['serve', '--data', directory.at('views'), '--port', '0', ...topic, ...more]);
  const url = new URL('/status', (await program.logged('listening')).url as string);
  const status = async (): Promise<Status> => (await (await fetch(url)).json()) as Status;
  return { program, position: async () => (await status()).source?.position ?? {} };
}

async function end({ program }: Consumer, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  program.kill(signal);
  return (await program.ended).code;
}

it(`the views are those of a replay after ${KILLS} kills of serve, and for every ${KILLS_PER_BROKER_RESTART} a broker restart (seed ${SEED})`, {
  timeout: 120_000 + KILLS * 40_000,
}, async () => {
  const topic = await createTopic(address, { partitions: PARTITIONS });
  const ledger = oddLedger(SEED, { synchronizers: PARTITIONS, updates: 150 * KILLS });
  const rows = intoPartitions(randomLedger({ ...ledger, periodMicros: 1 }), PARTITIONS, scanLine);
  const [random, redelivery] = [createRandom(SEED), createRandom(SEED + 1)];

  /** In small pieces; a piece that failed may come twice, and some others do. */
  async function send(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += PIECE_ROWS) {
      const again = redelivery.chance(REDELIVERED) ? redelivery.below(at + 1) : at;
      const before = again === at ? [] : rows.slice(again, again + PIECE_ROWS);
      const piece = [...before, ...rows.slice(at, Math.min(at + PIECE_ROWS, to))];
      const isSent = (): Promise<boolean> =>
        topic.send(piece).then(
          () => true,
          () => false,
        );
      while (!(await isSent()));
    }
  }

  for (let kill = 0; kill < KILLS; kill++) {
    const consumer = await startConsumer(topic);
    const before = await consumer.position();
    const [from, to] = [kill, kill + 1].map((part) => Math.floor((rows.length * part) / KILLS)) as [number, number];
    const sending = send(from, to);
    await expect.poll(consumer.position, { interval: 50 }).not.toEqual(before);
    await sleep(random.below(300));
    await end(consumer, 'SIGKILL');
    if (kill % KILLS_PER_BROKER_RESTART === 1) {
      await broker.kill();
      await broker.start();
    }
    await sending;
  }

  const places = new Map(rows.map((row) => [row.value, row]));
  const held = (await readTopic(topic.address, topic.name)).map(({ partition, value }) => {
    return { ...places.get(value!)!, partition };
  });
  const due = inMergeOrder(held, PARTITIONS);
  const wanted = Array.from({ length: PARTITIONS }, (_, n) => [n, due.filter((row) => row.partition === n).length]);
  const consumer = await startConsumer(topic);
  await expect.poll(consumer.position).toEqual(Object.fromEntries(wanted));
  expect(await end(consumer, 'SIGTERM')).toBe(0);
  const expected = directory.writeLines(
    'expected.ndjson',
    due.map(({ value }) => value),
  );
  expect(await replayInto(directory.at('expected'), [expected])).toMatchObject({ halted: null });
  expect(dumpViews(directory.at('views'))).toEqual(dumpViews(directory.at('expected')));
});

/** A member of a group that stays in it: to the others it is as one that was killed. */
async function joinForever(topic: TestTopic, groupId: string): Promise<AsyncDisposable> {
  const kafka = createKafkaClient(plainConnection(topic.address), keepingLogger());
  const member = kafka.consumer({ groupId, sessionTimeout: 300_000 });
  await member.connect();
  await member.subscribe({ topics: [topic.name] });
  const joined = new Promise((resolve) => member.on('consumer.group_join', resolve));
  await member.run({ autoCommit: false, eachBatch: async () => {} });
  await joined;
  return { [Symbol.asyncDispose]: () => member.disconnect() };
}

it('serve reads on after a kill, also while its group has another member, and joins no group', async () => {
  const topic = await createTopic(address);
  const groupId = `g-${topic.name}`;
  const membersNow = (): Promise<readonly { memberId: string }[]> =>
    topic.admin(async (admin) => (await admin.describeGroups([groupId])).groups[0]!.members);
  await using others = new AsyncDisposableStack();
  for (let kill = 1; kill <= 2; kill++) {
    if (kill === 2) others.use(await joinForever(topic, groupId));
    const before = await membersNow();
    const consumer = await startConsumer(topic, '--kafka-group', groupId);
    await topic.send(emptyRows(1, 0, kill));
    await expect.poll(consumer.position).toEqual({ 0: kill });
    expect([before.length, await membersNow()]).toEqual([kill - 1, before]);
    // The broker refuses it while the group has members.
    const offsets = () => topic.admin((admin) => admin.fetchOffsets({ groupId, topics: [topic.name] }));
    await expect.poll(offsets).toMatchObject([{ partitions: [{ partition: 0, offset: '1' }] }]);
    await end(consumer, 'SIGKILL');
  }
});

/** A thousand seconds apart, so that snapshots are sealed. */
const quiet = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', (from + n) * 1_000) }));
const valuesOf = async (topic: TestTopic): Promise<(string | null)[]> =>
  (await readTopic(address, topic.name)).map(({ value }) => value);

it('serve and produce wait for a broker that goes away or is not there yet; nothing is left out, sent twice or out of order', async () => {
  const lines = scanLedger(73, 200);
  await using scan = await startFakeScan({ migrationId: 0, lines: lines.slice(0, 100) });
  const [read, piped, bridged] = [await createTopic(address), await createTopic(address), await createTopic(address)];
  const to = (topic: TestTopic): string[] => ['--kafka-brokers', address, '--kafka-topic', topic.name];
  await read.send(quiet(0, 5));
  await using running = await serveTopic(read, directory);
  await running.untilReady();
  // So long that what is sent first is sent before the rest is there.
  const rows = emptyRows(400).map(({ value }) => value!.replace(/}$/, `,"note":"${'x'.repeat(50_000)}"}`));
  const pipe = directory.namedPipe('pipe');
  await using sending = startProgram(['produce', pipe, ...to(piped)]);
  const input = createWriteStream(pipe);
  input.write(`${rows.slice(0, 250).join('\n')}\n`);
  const follow = ['--scan', scan.url, '--start', 'beginning', '--follow', '--scan-poll-interval', '100ms'];
  await using bridge = startProgram(['produce', ...follow, ...to(bridged)]);
  await expect.poll(async () => (await valuesOf(piped)).length).toBeGreaterThan(0);
  await expect.poll(async () => (await valuesOf(bridged)).length).toBe(100);

  await broker.kill();
  await using late = await serveTopic(read, directory, { data: directory.at('late') });
  input.end(`${rows.slice(250).join('\n')}\n`);
  scan.add(...lines.slice(100));
  const unreachable = new RegExp(`cannot read topic ${read.name}: .*(ECONNREFUSED|[Cc]onnection)`);
  for (const service of [running, late]) {
    await service.until('unreachable', async () => unreachable.test((await service.readyz()).reasons.join()));
    expect(service.log.filter(({ level, message }) => level === 'warn' && unreachable.test(message))).not.toEqual([]);
    expect((await service.get('/livez')).status).toBe(200);
  }
  const waits = `cannot write to topic ${piped.name}: .*; waiting for it, for \\d+ s at most`;
  await expect.poll(() => sending.stderr()).toMatch(new RegExp(waits));
  await expect.poll(() => bridge.stderr()).toContain('; waiting for it');

  await broker.start();
  await read.untilLed();
  await read.send(quiet(5, 10));
  for (const service of [running, late]) {
    await service.until('went on', async () => (await service.status()).source?.position['0'] === 10);
    expect((await service.status()).counts).toMatchObject({ updates: 10, redelivered: 0 });
  }
  const { code, stdout } = await sending.ended;
  expect([code, stdout]).toEqual([0, `400 messages sent to topic ${piped.name}, 1 partition\n`]);
  expect(await valuesOf(piped)).toEqual(rows);
  await expect.poll(() => valuesOf(bridged)).toEqual(lines);
  bridge.kill('SIGTERM');
  const told = `200 messages sent to topic ${bridged.name}, 1 partition\n`;
  expect(await bridge.ended).toMatchObject({ code: 0, stdout: told });
});

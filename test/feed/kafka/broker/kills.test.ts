import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { createKafkaClient } from '../../../../src/feed/kafka/kafka-client.ts';
import { startBroker } from '../../../support/kafka/broker.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import type { Status } from '../../../support/kafka/service.ts';
import { createTopic, plainConnection, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { inMergeOrder, intoPartitions } from '../../../support/ledger/partitioned.ts';
import { createRandom } from '../../../support/ledger/random.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { type Program, startProgram } from '../../../support/program/program.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { replayInto } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const directory = freshDirectory();
const USUAL = 4;
const KILLS = soakCount(USUAL);
const KILLS_PER_BROKER_RESTART = 4;
const SEED = KILLS === USUAL ? 1 : Date.now() % 1_000_000;
const PARTITIONS = 3;
const PIECE_ROWS = 10;
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
  await using broker = await startBroker({ heapMb: 256, restarts: true });
  const topic = await createTopic(broker.addresses.plain, { partitions: PARTITIONS });
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

it.each([0, 1])('serve reads on after kills in a row, with %i other members in its group', async (members) => {
  const topic = await createTopic(inject('kafka').addresses.plain);
  const groupId = `g-${topic.name}`;
  const membersNow = (): Promise<readonly { memberId: string }[]> =>
    topic.admin(async (admin) => (await admin.describeGroups([groupId])).groups[0]!.members);
  await using others = new AsyncDisposableStack();
  if (members > 0) others.use(await joinForever(topic, groupId));
  const before = await membersNow();
  expect(before).toHaveLength(members);
  for (let kill = 1; kill <= 2; kill++) {
    const consumer = await startConsumer(topic, '--kafka-group', groupId);
    await topic.send(emptyRows(1, 0, kill));
    await expect.poll(consumer.position).toEqual({ 0: kill });
    // None has joined, so the next one waits for none.
    expect(await membersNow()).toEqual(before);
    // The broker refuses it while the group has members.
    const committed = members > 0 ? '-1' : String(kill);
    const offsets = () => topic.admin((admin) => admin.fetchOffsets({ groupId, topics: [topic.name] }));
    await expect.poll(offsets).toMatchObject([{ partitions: [{ partition: 0, offset: committed }] }]);
    await end(consumer, 'SIGKILL');
  }
});

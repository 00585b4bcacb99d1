import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { createKafkaClient } from '../../../../src/feed/kafka/kafka-client.ts';
import { startBroker } from '../../../support/kafka/broker.ts';
import { type ConsumerProcess, startConsumer } from '../../../support/kafka/consumer-process.ts';
import { keepingLogger } from '../../../support/kafka/reading.ts';
import { emptyRows } from '../../../support/kafka/rows.ts';
import { topicOptions } from '../../../support/kafka/service.ts';
import { createTopic, plainConnection, readTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { inMergeOrder, intoPartitions, type PartitionedRow } from '../../../support/ledger/partitioned.ts';
import { createRandom } from '../../../support/ledger/random.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { soakCount } from '../../../support/program/soak.ts';
import { temporaryDirectory } from '../../../support/program/temporary-directory.ts';
import { replayInto } from '../../../support/views/replayed.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const USUAL = 3;
const KILLS = soakCount(USUAL);
const KILLS_PER_BROKER_RESTART = 8;
const PARTITIONS = 3;
const LIFE_MS_MAX = 1_500;
/** Of one that has begun to apply. */
const WORK_MS_MAX = 300;
const SEED = KILLS === USUAL ? 1 : Date.now() % 1_000_000;

const PIECE_ROWS = 5;
/** of the pieces that come with an earlier one before them */
const REDELIVERED = 0.1;
const PIECE_PAUSE_MS = 50;

interface Pace {
  /** How many rows may be sent by now. */
  readonly released: () => number;
  readonly hurry: AbortSignal;
}

/** Sends everything in small pieces, slowly until it shall hurry; a piece that failed may come twice, and some others do. */
async function sendSlowly(topic: TestTopic, rows: readonly PartitionedRow[], { released, hurry }: Pace): Promise<void> {
  const random = createRandom(SEED + 1);
  for (let from = 0; from < rows.length; from += PIECE_ROWS) {
    while (from >= released() && !hurry.aborted) await sleep(20);
    const again = random.chance(REDELIVERED) ? random.below(from + 1) : from;
    const piece = [
      ...rows.slice(again, again === from ? from : again + PIECE_ROWS),
      ...rows.slice(from, from + PIECE_ROWS),
    ];
    for (let sent = false; !sent; ) {
      sent = await topic.send(piece).then(
        () => true,
        () => false,
      );
    }
    await sleep(PIECE_PAUSE_MS, undefined, { signal: hurry }).catch(() => {});
  }
}

/** Messages that the views have gone past. */
async function appliedBy(consumer: ConsumerProcess): Promise<number> {
  const position = (await consumer.status()).source?.position ?? {};
  return Object.values(position).reduce((sum, nextOffset) => sum + nextOffset, 0);
}

async function untilMoved(consumer: ConsumerProcess, from: number): Promise<void> {
  await expect.poll(() => appliedBy(consumer), { interval: 50 }).toBeGreaterThan(from);
}

async function untilApplied(consumer: ConsumerProcess, due: readonly PartitionedRow[]): Promise<void> {
  const wanted = Array.from({ length: PARTITIONS }, (_, n) => due.filter((row) => row.partition === n).length);
  const deadline = Date.now() + 60_000;
  for (;;) {
    const position = (await consumer.status()).source?.position ?? {};
    if (wanted.every((count, partition) => position[partition] === count)) return;
    if (Date.now() > deadline) throw new Error(`at ${JSON.stringify(position)} and not at ${JSON.stringify(wanted)}`);
    await sleep(50);
  }
}

it(`the views are those of a replay after ${KILLS} kills of the consumer, and for every ${KILLS_PER_BROKER_RESTART} a broker restart (seed ${SEED})`, {
  timeout: 120_000 + KILLS * 40_000,
}, async () => {
  using directory = temporaryDirectory();
  await using broker = await startBroker({ heapMb: 256, restarts: true });
  const topic = await createTopic(broker.addresses.plain, { partitions: PARTITIONS });
  const ledger = oddLedger(SEED, { synchronizers: PARTITIONS, updates: 200 * KILLS });
  const rows = intoPartitions(randomLedger({ ...ledger, periodMicros: 1 }), PARTITIONS, scanLine);
  const random = createRandom(SEED);
  const address = broker.addresses.plain;
  const options = { data: directory.at('views'), kafkaBrokers: address, kafkaTopic: topic.name };

  const hurry = new AbortController();
  let released = 0;
  const sending = sendSlowly(topic, rows, { released: () => released, hurry: hurry.signal });
  let atWork = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const consumer = await startConsumer(options);
    const before = await appliedBy(consumer);
    // However slow the machine is, something is left for this one to apply, and for those after it.
    released = (rows.length * (kill + 1)) / (KILLS + 1);
    // Every second one is killed at work, however slow the machine is; the others at any moment.
    if (kill % 2 === 0) await untilMoved(consumer, before);
    await sleep(random.below(kill % 2 === 0 ? WORK_MS_MAX : LIFE_MS_MAX));
    if ((await appliedBy(consumer)) > before) atWork += 1;
    await consumer.end('SIGKILL');
    if (kill % KILLS_PER_BROKER_RESTART !== 1) continue;
    await broker.kill();
    await sleep(random.below(1_000));
    await broker.start();
  }
  hurry.abort();
  await sending;
  expect(atWork).toBeGreaterThanOrEqual(KILLS / 2);

  const places = new Map(rows.map((row) => [row.value, row]));
  const held = (await readTopic(broker.addresses.plain, topic.name)).map(({ partition, value }) => {
    return { ...places.get(value!)!, partition };
  });
  const due = inMergeOrder(held, PARTITIONS);
  const consumer = await startConsumer(options);
  await untilApplied(consumer, due);
  expect(await consumer.end('SIGTERM')).toBe(0);

  const expected = due.map((row) => row.value);
  const { halted } = await replayInto(directory.at('expected'), [directory.writeLines('expected.ndjson', expected)]);
  expect(halted).toBeNull();
  expect(dumpViews(directory.at('views'))).toEqual(dumpViews(directory.at('expected')));
});

/** So long that no test sees its end. */
const SESSION_MS = 300_000;

/** A member of a group that stays in it: to the others it is as one that was killed. */
async function joinForever(topic: TestTopic, groupId: string): Promise<AsyncDisposable> {
  const kafka = createKafkaClient(plainConnection(topic.address), keepingLogger());
  const member = kafka.consumer({ groupId, sessionTimeout: SESSION_MS });
  await member.connect();
  await member.subscribe({ topics: [topic.name] });
  const joined = new Promise((resolve) => member.on('consumer.group_join', resolve));
  await member.run({ autoCommit: false, eachBatch: async () => {} });
  await joined;
  return { [Symbol.asyncDispose]: () => member.disconnect() };
}

it.each([0, 1])('a service reads on after kills in a row, with %i other members in its group', async (members) => {
  using directory = temporaryDirectory();
  const topic = await createTopic(inject('kafka').addresses.plain);
  const groupId = `g-${randomUUID()}`;
  const membersNow = (): Promise<readonly { memberId: string }[]> =>
    topic.admin(async (admin) => (await admin.describeGroups([groupId])).groups[0]!.members);
  await using others = new AsyncDisposableStack();
  if (members > 0) others.use(await joinForever(topic, groupId));
  const before = await membersNow();
  expect(before).toHaveLength(members);
  for (let kill = 1; kill <= 2; kill++) {
    const consumer = await startConsumer({ ...topicOptions(topic, directory), kafkaGroup: groupId });
    await topic.send(emptyRows(1, 0, kill));
    await expect.poll(async () => (await consumer.status()).source?.position).toEqual({ 0: kill });
    // None has joined, so the next one waits for none.
    expect(await membersNow()).toEqual(before);
    // The broker refuses it while the group has members.
    const committed = members > 0 ? '-1' : String(kill);
    await expect
      .poll(() => topic.admin((admin) => admin.fetchOffsets({ groupId, topics: [topic.name] })))
      .toMatchObject([{ partitions: [{ partition: 0, offset: committed }] }]);
    await consumer.end('SIGKILL');
  }
});

import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { PACKERS, type PackerName } from '../../../support/kafka/compression.ts';
import { flipBit } from '../../../support/kafka/damage.ts';
import { readingOptions, startReading } from '../../../support/kafka/reading.ts';
import { expectEqualToReplay } from '../../../support/kafka/rows.ts';
import { serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { holdfast } from '../../../support/program/command.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';
import { deadLettersIn, eventsIn, eventsOf, taskOf } from '../../../support/scale/flat-topic.ts';
import { startMember } from '../../../support/scale/members.ts';

const { addresses, data } = inject('kafka');

const directory = freshDirectory();

/** Twelve updates, every other one in the other partition, with a key and a header. */
const ROWS: readonly Row[] = Array.from({ length: 12 }, (_, second) => {
  return { partition: second % 2, value: emptyUpdate('s', second), key: 'the-key', headers: { name: 'the-header' } };
});
const inPartition = (partition: number): Row[] => ROWS.filter((row) => row.partition === partition);
/** What is behind each broken batch, and before it. */
const WHOLE = ROWS.filter((row) => ![2, 3].includes(inPartition(0).indexOf(row)));

type Send = (topic: TestTopic, rows: readonly Row[]) => Promise<void>;

/** A topic with three batches in each of two partitions; the second one of partition 0 is sent by the caller. */
async function topicWith(second: Send): Promise<TestTopic> {
  const topic = await createTopic(addresses.plain, {
    partitions: 2,
    config: { 'max.message.bytes': '67108864' },
  });
  for (const from of [0, 2, 4]) {
    const [first, other] = [inPartition(0), inPartition(1)].map((rows) => rows.slice(from, from + 2));
    await topic.send(other!);
    if (from === 2) await second(topic, first!);
    else await topic.send(first!);
  }
  return topic;
}

/** Sends the rows, and flips a bit of their batch. */
const damaged =
  (place: (batch: Buffer) => number, packer?: PackerName): Send =>
  async (topic, rows) => {
    await topic.send(rows, packer && PACKERS[packer].type);
    flipBit(join(data, `${topic.name}-0`, `${'0'.repeat(20)}.log`), 1, place);
  };

/** Of each codec and each place: test/feed/kafka/record-batches.test.ts. */
it('a batch with another byte ends the reading, behind all that is before it and no further', async () => {
  const topic = await topicWith(damaged((batch) => batch.length - 20, 'zstd'));
  await using reading = startReading(readingOptions(topic.address, topic, { partitionIdleMs: 300 }));
  expect(await reading.failure()).toMatchObject({
    name: 'BrokenContainer',
    message: expect.stringMatching(/checksum/),
    batch: { lane: '0', offset: 2, resumeToken: '4' },
  });
  // Up to the broken batch by record time: of the other partition what is before the message that it comes after.
  expect(reading.messages.map(({ lane, offset }) => `${lane}:${offset}`)).toEqual(['0:0', '1:0', '0:1']);
});

it('serve halts at a damaged batch with all before it applied, says where, and goes on behind it once it is dropped', async () => {
  const topic = await topicWith(damaged((batch) => batch.indexOf('record_time')));
  const views = directory.at('views');
  const idle = { kafkaPartitionIdle: '300ms' };
  {
    await using service = await serveTopic(topic, directory, idle);
    await service.until('halted', async () => (await service.status()).halted !== null);
    const { halted, source } = await service.status();
    expect(halted).toMatchObject({ kind: 'container', code: 'broken_batch', partition: 0, offset: 2 });
    expect(source?.position).toEqual({ 0: 2, 1: 1 });
    const reason = `halted at topic ${topic.name}, partition 0, offset 2: offsets 2 to 3: the batch cannot be read: it states checksum`;
    await service.until(reason, async () => (await service.readyz()).reasons.join().includes(reason));
  }
  expect(await holdfast('dead-letters', 'retry', '--data', views)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('keeps no bytes'),
  });
  expect(await holdfast('dead-letters', 'drop', '1', '--yes', '--data', views)).toMatchObject({
    code: 0,
    stdout: 'dead letter 1 is dropped: ingest continues behind the batch, without its messages\n',
  });
  expect(await holdfast('verify', '--data', views)).toMatchObject({ code: 0 });
  {
    await using service = await serveTopic(topic, directory, idle);
    const isRead = async (): Promise<boolean> => {
      const { source } = await service.status();
      return source?.position['0'] === 6 && source.position['1'] === 6;
    };
    await service.until('read', isRead);
    expect(await service.status()).toMatchObject({ halted: null });
  }
  await expectEqualToReplay(directory, WHOLE);
  expect(await holdfast('verify', '--data', views)).toMatchObject({ code: 0 });
});

it('decode halts only the partition with a damaged batch, and goes on behind it once it is dropped', async () => {
  const topic = await topicWith(damaged((batch) => batch.indexOf('record_time')));
  const task = taskOf(topic);
  const expected = (rows: readonly Row[]): string[][] => [eventsIn(rows, 0), eventsIn(rows, 1)];
  const before = ROWS.filter((row) => row.partition === 1 || inPartition(0).indexOf(row) < 2);
  for (const onBadUpdate of ['halt', 'quarantine'] as const) {
    await using member = startMember({ ...task, rules: { onBadUpdate } });
    await expect.poll(() => eventsOf(task).catch(() => [])).toEqual(expected(before));
    await expect.poll(() => member.log.some(({ message }) => message.includes('--drop 0:2 goes on'))).toBe(true);
  }
  await using _ = startMember({ ...task, drop: [0, 2] });
  await expect.poll(() => eventsOf(task)).toEqual(expected(WHOLE));
  expect(await deadLettersIn(task)).toEqual(['0:2 halted null', '0:2 dropped null']);
});

it('produce refuses to continue behind a damaged batch, which it names', async () => {
  const topic = await topicWith(damaged((batch) => batch.indexOf('record_time')));
  const file = directory.writeLines('more.ndjson', [emptyUpdate('s', 20)]);
  const { code, stderr } = await holdfast(
    'produce',
    file,
    '--kafka-brokers',
    topic.address,
    '--kafka-topic',
    topic.name,
  );
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(
      `topic ${topic.name}, partition 0, offsets 2 to 3: the batch cannot be read: it states checksum`,
    ),
  ]);
});

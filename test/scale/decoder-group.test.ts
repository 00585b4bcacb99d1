import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { decoderMetrics } from '../../src/cli/decode-topic.ts';
import { createKafkaClient } from '../../src/feed/kafka/kafka-client.ts';
import { passesReopened } from '../../src/feed/kafka/kafka-errors.ts';
import { recordOf } from '../../src/feed/kafka/kafka-record.ts';
import { startMetricsServer } from '../../src/http/metrics-server.ts';
import { openLane } from '../../src/scale/partition-lane.ts';
import { metricsAskedFor } from '../support/deploy/expressions.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { createTopic, plainConnection, type Row, type TestTopic } from '../support/kafka/topic.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { deadLettersIn, eventsIn, eventsOf, marksOf, spreadRows, taskOf } from '../support/scale/flat-topic.ts';
import { FLAT_DSO } from '../support/scale/ledgers.ts';
import { type Member, type MemberTask, startMember } from '../support/scale/members.ts';
import { TEN_MINUTES_US } from '../support/views/replayed.ts';

const address = inject('kafka').addresses.plain;
const PARTITIONS = 3;

const BAD = '{"update_id": 7}';

async function filledTopic(
  rows: readonly Row[],
  partitions = PARTITIONS,
): Promise<{ topic: TestTopic; task: MemberTask }> {
  const topic = await createTopic(address, { partitions });
  await topic.send(rows);
  return { topic, task: taskOf(topic) };
}

const expectedOf = (rows: readonly Row[], partitions = PARTITIONS): string[][] =>
  Array.from({ length: partitions }, (_, partition) => eventsIn(rows, partition));

/** Of a topic that may not exist yet. */
async function untilDecoded(task: MemberTask, expected: readonly string[][]): Promise<void> {
  await expect.poll(() => eventsOf(task).catch(() => [])).toEqual(expected);
}

const says = (member: Member, pattern: RegExp): boolean => member.log.some(({ message }) => pattern.test(message));

describe('members of a group', () => {
  it('share the partitions, hand them over and go on where they were', async () => {
    const rows = spreadRows(3, { updates: 300, partitions: PARTITIONS });
    const part = (from: number, to: number): Row[] => rows.slice(from * 100, to * 100);
    const { topic, task } = await filledTopic(part(0, 1));
    await using first = startMember(task);
    await untilDecoded(task, expectedOf(part(0, 1)));
    {
      await using second = startMember(task);
      await expect.poll(() => says(second, /decoding a partition/)).toBe(true);
      await topic.send(part(1, 2));
      await untilDecoded(task, expectedOf(part(0, 2)));
    }
    await topic.send(part(2, 3));
    await untilDecoded(task, expectedOf(rows));
    await first[Symbol.asyncDispose]();
    await expect(first.ended).resolves.toBeUndefined();
  });

  it('skip what a transaction aborted, and repeat the watermark, also after a restart at the end', async () => {
    const rows = [0, 1].map((second) => ({ partition: 0, value: emptyUpdate('s', second) }));
    const topic = await createTopic(address, { partitions: 2 });
    const task = { ...taskOf(topic), markIntervalMs: 200 };
    await topic.sendTransaction([rows[0]!], 'commit');
    await topic.sendTransaction([{ partition: 0, value: BAD }], 'abort');
    {
      await using _ = startMember(task);
      await untilDecoded(task, expectedOf(rows.slice(0, 1), 2));
      await topic.sendTransaction([{ partition: 0, value: BAD }], 'abort');
      await topic.sendTransaction(rows.slice(1), 'commit');
      await untilDecoded(task, expectedOf(rows, 2));
    }
    const before = (await marksOf(task))[0]!.length;
    await using _ = startMember(task);
    await expect.poll(async () => (await marksOf(task))[0]!.length).toBeGreaterThan(before);
    const [marks, none] = await marksOf(task);
    const newest = JSON.parse(expectedOf(rows, 2)[0]!.at(-1)!) as Record<string, unknown>;
    expect(JSON.parse(marks!.at(-1)!)).toEqual({ ...newest, k: 'T' });
    // Nothing is known of the time of a partition without a message.
    expect(none).toEqual([]);
  });

  it('that take a partition over are the only ones that store from the moment at which they read its position', async () => {
    const { topic, task } = await filledTopic(
      [0, 1].map((second) => ({ partition: 0, value: emptyUpdate('s', second) })),
      1,
    );
    const [flat, deadLetters] = await Promise.all([createTopic(address), createTopic(address)]);
    const open = () =>
      openLane(
        createKafkaClient(plainConnection(address), keepingLogger()),
        {
          group: `g-${task.flat}`,
          topics: { input: topic.name, flat: flat.name, deadLetters: deadLetters.name },
          rules: {
            ...{ dso: FLAT_DSO, periodUs: TEN_MINUTES_US, migrationId: 0 },
            ...{ recordTimeAheadMaxUs: 0, onBadUpdate: 'halt' },
          },
        },
        { partition: 0, dropped: new Set() },
      );
    const record = (offset: number) => recordOf(0, offset, Buffer.from(emptyUpdate('s', offset)));
    const first = await open();
    await first.decode([record(0)]);
    const second = await open();
    expect(second.position.next).toBe(1);
    expect(passesReopened(await first.decode([record(1)]).catch((error: unknown) => error))).toBe(true);
    await second.decode([record(1)]);
    for (const lane of [first, second]) await lane.close();
  });
});

describe('a message that cannot be decoded', () => {
  const rows = [0, 1].flatMap((partition) => [
    { partition, value: emptyUpdate(`s${partition}`, 1) },
    { partition, value: partition === 0 ? BAD : emptyUpdate('s1', 2) },
    { partition, value: emptyUpdate(`s${partition}`, 3) },
  ]);
  const good = rows.filter(({ value }) => value !== BAD);
  const halted = expectedOf(good, 2).map((events, partition) => (partition === 0 ? events.slice(0, 1) : events));

  it('halts its partition for every member that gets it, whatever its policy, until it is dropped', async () => {
    const { task } = await filledTopic(rows, 2);
    {
      await using member = startMember(task);
      await untilDecoded(task, halted);
      await expect.poll(() => says(member, /partition 0 stopped: --drop 0:1 goes on without it/)).toBe(true);
      await expectMetrics(member);
    }
    expect(await deadLettersIn(task)).toEqual([`0:1 halted ${BAD}`]);
    {
      await using member = startMember({ ...task, rules: { onBadUpdate: 'quarantine' }, drop: [1, 1] });
      await expect.poll(() => says(member, /partition 0 stopped/)).toBe(true);
    }
    expect(await eventsOf(task)).toEqual(halted);
    expect(await deadLettersIn(task)).toHaveLength(1);
    await using _ = startMember({ ...task, drop: [0, 1] });
    await untilDecoded(task, expectedOf(good, 2));
    expect((await deadLettersIn(task)).slice(1)).toEqual([`0:1 dropped ${BAD}`]);
  });

  /** Of a member that halted at the first partition's second message. */
  async function expectMetrics({ figures }: Member): Promise<void> {
    const at = { host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }) };
    await using server = await startMetricsServer(decoderMetrics(figures), at);
    const answer = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text();
    const lines = (await answer('/metrics')).split('\n').filter((line) => line.startsWith('holdfast_decoder_'));
    const reached = (JSON.parse(rows[0]!.value) as { record_time: string }).record_time;
    expect(lines.sort()).toEqual([
      'holdfast_decoder_dead_letters_total{decision="dropped"} 0',
      'holdfast_decoder_dead_letters_total{decision="halted"} 1',
      'holdfast_decoder_dead_letters_total{decision="quarantined"} 0',
      'holdfast_decoder_events_total 4',
      'holdfast_decoder_messages_total 4',
      'holdfast_decoder_partitions 2',
      `holdfast_decoder_reached_timestamp_seconds ${Date.parse(reached) / 1000}`,
      'holdfast_decoder_stopped_partitions{cause="ahead_of_clock"} 0',
      'holdfast_decoder_stopped_partitions{cause="halted"} 1',
      'holdfast_decoder_topic_partitions 2',
    ]);
    const names = lines.map((line) => /^\w+/.exec(line)![0]);
    expect(metricsAskedFor('holdfast_decoder_')).toEqual([...new Set(names)]);
    expect(await answer('/livez')).toBe('{}');
  }

  it('waits under either policy where its time is ahead of our clock, and is decoded once that is there', async () => {
    const soon = (ms: number): string => new Date(Date.now() + ms).toISOString().replace('Z', '000Z');
    const topic = await createTopic(address);
    const task = taskOf(topic);
    const rules = { onBadUpdate: 'quarantine', recordTimeAheadMaxUs: 0 } as const;
    await using member = startMember({ ...task, rules, markIntervalMs: 300 });
    await expect.poll(() => member.figures.partitions.has(0)).toBe(true);
    const expected: string[] = [];
    // Where the machine is so busy that our clock is there before the message is read, one that is further ahead.
    for (let ms = 2_000; !says(member, /waiting until our clock is there/) && ms < 60_000; ms *= 2) {
      const ahead = emptyUpdate('s', 1).replace(/"record_time":"[^"]*"/, `"record_time":"${soon(ms)}"`);
      await topic.send([{ partition: 0, value: ahead }]);
      expected.push(expect.stringContaining('"k":"M"') as string);
      await untilDecoded(task, [expected]);
    }
    expect(says(member, /waiting until our clock is there/)).toBe(true);
    expect(await deadLettersIn(task)).toEqual([]);
  });
});

describe('a decoder refuses', () => {
  const rows = [{ partition: 0, value: emptyUpdate('s', 1) }];
  const refusal = async (task: MemberTask): Promise<string> => {
    await using member = startMember(task);
    const ended = member.ended.then(String, (error: Error) => error.message);
    return await Promise.race([ended, sleep(60_000, 'nothing')]);
  };

  it('settings other than those its group decoded with, a new group over events, and an offset of another program', async () => {
    const { topic, task } = await filledTopic(rows, 1);
    {
      await using _ = startMember(task);
      await untilDecoded(task, expectedOf(rows, 1));
    }
    const other = await createTopic(address);
    const group = `g-${task.flat}`;
    const refused: readonly [Partial<MemberTask>, RegExp | string][] = [
      [{ rules: { dso: 'b::12' } }, /decoded with --dso DSO::1220fe before, not b::12/],
      [{ rules: { periodUs: 60_000_000 } }, /--snapshot-period .* 600000000 before/],
      [{ rules: { migrationId: 3 } }, /--migration-id 0 before, not 3/],
      [{ group, flat: other.name }, `decoded with --flat-topic ${task.flat} before, not ${other.name}`],
      [{ group: `other-${task.flat}` }, /has events, which would come twice/],
    ];
    for (const [more, said] of refused) expect(await refusal({ ...task, ...more })).toMatch(said);
    const partitions = [{ partition: 0, offset: '0' }];
    await topic.admin((admin) => admin.setOffsets({ groupId: group, topic: topic.name, partitions }));
    expect(await refusal(task)).toMatch(/was not committed by this version of holdfast decode/);
  });

  it('topics that are missing or have other numbers of partitions, and updates that are gone', async () => {
    const { topic, task } = await filledTopic(rows, 2);
    expect(await refusal({ ...task, create: false })).toMatch(/there is no topic flat-.*--create creates it/);
    const wrong = await createTopic(address, { partitions: 1 });
    expect(await refusal({ ...task, flat: wrong.name })).toMatch(
      /has 1 partition, and topic .* 2: they must have as many/,
    );
    {
      await using _ = startMember(task);
      await untilDecoded(task, expectedOf(rows, 2));
    }
    await topic.send([...rows, ...rows]);
    await topic.cut(0, 2);
    expect(await refusal(task)).toMatch(/it decoded .*, and the topic holds 2 to 3: messages were removed/);
  });
});

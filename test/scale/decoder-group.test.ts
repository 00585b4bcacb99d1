import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { createTopic, type Row, type TestTopic } from '../support/kafka/topic.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { deadLettersIn, eventsIn, eventsOf, marksOf, spreadRows, taskOf } from '../support/scale/flat-topic.ts';
import { type Member, type MemberTask, startMember } from '../support/scale/members.ts';

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

  it('skip what a transaction of the topic of updates aborted, and control records', async () => {
    const rows = [0, 1, 2, 3].map((second) => ({ partition: 0, value: emptyUpdate('s', second) }));
    const topic = await createTopic(address);
    await topic.sendTransaction([rows[0]!], 'commit');
    await topic.sendTransaction([{ partition: 0, value: BAD }], 'abort');
    await topic.sendTransaction([rows[1]!], 'commit');
    const task = taskOf(topic);
    {
      await using _ = startMember(task);
      await untilDecoded(task, expectedOf(rows.slice(0, 2), 1));
      await topic.sendTransaction([{ partition: 0, value: BAD }], 'abort');
      await topic.sendTransaction(rows.slice(2, 3), 'commit');
      await untilDecoded(task, expectedOf(rows.slice(0, 3), 1));
    }
    await topic.send(rows.slice(3));
    await using _ = startMember(task);
    await untilDecoded(task, expectedOf(rows, 1));
  });

  it('repeat the watermark, also after a restart at the end, and only where nothing else was written', async () => {
    const rows = [0, 1].map((second) => ({ partition: 0, value: emptyUpdate('s', second) }));
    const { task } = await filledTopic(rows, 2);
    const marking = { ...task, markIntervalMs: 200 };
    {
      await using _ = startMember(marking);
      await expect.poll(async () => (await marksOf(task).catch(() => []))[0]?.length).toBeGreaterThan(1);
    }
    const before = (await marksOf(task))[0]!.length;
    await using _ = startMember(marking);
    await expect.poll(async () => (await marksOf(task))[0]!.length).toBeGreaterThan(before);
    const [marks, none] = await marksOf(task);
    const newest = JSON.parse(expectedOf(rows, 2)[0]!.at(-1)!) as Record<string, unknown>;
    expect([...new Set(marks)].map((mark) => JSON.parse(mark))).toEqual([{ ...newest, k: 'T' }]);
    // Nothing is known of the time of a partition without a message.
    expect(none).toEqual([]);
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

  it('is left out under quarantine, and kept with its bytes', async () => {
    const { task } = await filledTopic(rows, 2);
    await using _ = startMember({ ...task, rules: { onBadUpdate: 'quarantine' } });
    await untilDecoded(task, expectedOf(good, 2));
    expect(await deadLettersIn(task)).toEqual([`0:1 quarantined ${BAD}`]);
  });

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
      expect(ahead).not.toBe(emptyUpdate('s', 1));
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
    const failure = await Promise.race([member.ended, sleep(60_000, 'nothing')]).then(
      String,
      (error: Error) => error.message,
    );
    return failure;
  };

  it('settings other than those its group decoded with, and an offset of another program', async () => {
    const { topic, task } = await filledTopic(rows, 1);
    {
      await using _ = startMember(task);
      await untilDecoded(task, expectedOf(rows, 1));
    }
    expect(await refusal({ ...task, rules: { dso: 'b::12' } })).toMatch(
      /decoded with --dso DSO::1220fe before, not b::12/,
    );
    expect(await refusal({ ...task, rules: { periodUs: 60_000_000 } })).toMatch(
      /--snapshot-period .* 600000000 before/,
    );
    expect(await refusal({ ...task, rules: { migrationId: 3 } })).toMatch(/--migration-id 0 before, not 3/);
    const other = await createTopic(address);
    const into = { ...task, group: `g-${task.flat}`, flat: other.name };
    expect(await refusal(into)).toMatch(`decoded with --flat-topic ${task.flat} before, not ${other.name}`);
    expect(await eventsOf(into)).toEqual([[]]);
    await topic.admin((admin) =>
      admin.setOffsets({ groupId: `g-${task.flat}`, topic: topic.name, partitions: [{ partition: 0, offset: '0' }] }),
    );
    expect(await refusal(task)).toMatch(/was not committed by this version of holdfast decode/);
  });

  it('a new group where the topic of flat events has some', async () => {
    const { task } = await filledTopic(rows, 1);
    {
      await using _ = startMember(task);
      await untilDecoded(task, expectedOf(rows, 1));
    }
    expect(await refusal({ ...task, group: `other-${task.flat}` })).toMatch(/has events, which would come twice/);
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

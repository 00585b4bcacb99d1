import { describe, expect, inject, it, vi } from 'vitest';
import { endsOf, type FlatTopic, lookAtFlatTopic } from '../../src/flat-decoder/flat-topic.ts';
import { FLAT_DSO } from '../support/flat/ledgers.ts';
import { spreadRows, taskOf } from '../support/flat-decoder/flat-topic.ts';
import { type MemberTask, startMember } from '../support/flat-decoder/members.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { createTopic, plainConnection } from '../support/kafka/topic.ts';
import { TEN_MINUTES_US } from '../support/views/replayed.ts';

const { plain: address } = inject('kafka').addresses;

function look(topic: string, group: string, periodUs = TEN_MINUTES_US): Promise<FlatTopic> {
  return lookAtFlatTopic(plainConnection(address), { topic, group, reader: 'nobody', periodUs }, keepingLogger());
}

/** A topic with two partitions, of which the second has no update. */
async function decodedTask(): Promise<MemberTask> {
  const topic = await createTopic(address, { partitions: 2 });
  await topic.send(spreadRows(3, { updates: 20, partitions: 1 }));
  const task = taskOf(topic);
  await using _ = startMember(task);
  const end = async (): Promise<number | undefined> =>
    (await endsOf(plainConnection(address), task.flat, keepingLogger())).get(0);
  await vi.waitFor(async () => expect(await end()).toBeGreaterThan(20), { timeout: 60_000, interval: 200 });
  return task;
}

describe('a look at a topic of flat events', () => {
  it('tells its ends, what it was decoded with, and that nobody has read it', async () => {
    const { flat } = await decodedTask();
    const { bounds, decodedWith, read } = await look(flat, `g-${flat}`);
    expect([...bounds.keys()]).toEqual([0, 1]);
    expect(bounds.get(1)).toEqual({ low: 0, high: 0 });
    expect(decodedWith).toMatchObject({ dso: FLAT_DSO, periodUs: TEN_MINUTES_US });
    expect(read.size).toBe(0);
    expect((await look(flat, 'another group')).decodedWith).toBeNull();
    await expect(look(flat, `g-${flat}`, 60_000_000)).rejects.toThrow(
      /partition 0 of topic \S+ was decoded with another --snapshot-period than the store's of 60000000 micro/,
    );
  });

  it('refuses a group that decodes into another topic', async () => {
    const [one, other] = await Promise.all([decodedTask(), decodedTask()]);
    await expect(look(one.flat, `g-${other.flat}`)).rejects.toThrow(
      `group g-${other.flat} decodes into topic ${other.flat}, not ${one.flat}`,
    );
  });

  it('refuses a topic of anything else', async () => {
    const updates = await createTopic(address);
    await updates.send(spreadRows(3, { updates: 2, partitions: 1 }));
    await expect(look(updates.name, 'g')).rejects.toThrow(/has no flat coin events but .*name the topic that holdfast/);
  });
});

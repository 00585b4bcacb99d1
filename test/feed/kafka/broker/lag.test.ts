import { describe, expect, inject, it } from 'vitest';
import { type RunningService, type Status, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

const updates = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', from + n) }));
const BAD: Row = { partition: 0, value: '{"foo": 1}' };

type TopicAnswer = NonNullable<NonNullable<Status['source']>['topic']>;

async function topicOf(service: RunningService): Promise<TopicAnswer | null> {
  return (await service.status()).source?.topic ?? null;
}

async function untilPartitions(service: RunningService, partitions: readonly object[]): Promise<void> {
  const said = async (): Promise<unknown> => (await topicOf(service))?.partitions;
  await expect.poll(said).toEqual(partitions.map((of) => ({ ...of, first_offset: 0, passed_over: false })));
}

describe('the lag in /status', () => {
  it('is still shown after a halt, from where the halt is, and after a restart', async () => {
    const topic = await createTopic(address);
    await topic.send([...updates(0, 100), BAD, ...updates(100, 400)]);
    {
      await using service = await serveTopic(topic, directory);
      await service.until('halted', async () => (await service.status()).phase === 'halted');
      await untilPartitions(service, [{ partition: 0, next_offset: 100, end_offset: 401, lag: 301 }]);
      // The feed says what it has read last once it has ended.
      const times = async (): Promise<unknown[]> => {
        const shown = (await topicOf(service))!;
        return [shown.newest_record_time, shown.lag_seconds];
      };
      await expect.poll(times).toEqual(['2025-01-01T00:06:39Z', 300]);
      await topic.send(updates(400, 410));
      await untilPartitions(service, [{ partition: 0, next_offset: 100, end_offset: 411, lag: 311 }]);
      expect(await service.status()).toMatchObject({ phase: 'halted', source: { position: { 0: 100 } } });
      const metrics = await (await service.get('/metrics')).text();
      expect(metrics).toContain('\nholdfast_source_position{lane="0"} 100\n');
      expect(metrics).toContain('\nholdfast_source_lag_messages 311\n');
      expect(metrics).toContain('\nholdfast_source_lag_seconds 300\n');
    }
    await using service = await serveTopic(topic, directory);
    await untilPartitions(service, [{ partition: 0, next_offset: 100, end_offset: 411, lag: 311 }]);
    expect(await service.status()).toMatchObject({ phase: 'halted', source: { position: { 0: 100 } } });
    await topic.send(updates(410, 420));
    await untilPartitions(service, [{ partition: 0, next_offset: 100, end_offset: 421, lag: 321 }]);
  });

  it('is shown after a restart too, while an update that is ahead waits for our clock', async () => {
    const topic = await createTopic(address);
    const ahead = { partition: 0, value: emptyUpdate('s', 20 * 365 * 86_400) };
    await topic.send([...updates(0, 10), ahead, ...updates(10, 20)]);
    for (let start = 0; start < 2; start++) {
      await using service = await serveTopic(topic, directory, { recordTimeGapMax: '9999d' });
      await service.until('waits', async () => (await service.status()).phase === 'waiting_for_clock');
      await untilPartitions(service, [{ partition: 0, next_offset: 10, end_offset: 21, lag: 11 }]);
    }
  });

  it('counts to the newest record time, whatever follows it, and is none at the end', async () => {
    const topic = await createTopic(address);
    await topic.send([...updates(0, 5), { partition: 0, value: null }]);
    for (let start = 0; start < 2; start++) {
      await using service = await serveTopic(topic, directory);
      await untilPartitions(service, [{ partition: 0, next_offset: 6, end_offset: 6, lag: 0 }]);
      const { lag_seconds, newest_record_time } = (await topicOf(service))!;
      // What is at the start compared with the views is a tombstone: no time was read.
      expect([lag_seconds, newest_record_time]).toEqual([0, start === 0 ? '2025-01-01T00:00:04Z' : null]);
    }
  });

  it('is not known of a topic that is refused', async () => {
    const topic = await createTopic(address);
    await topic.send(updates(0, 10));
    await using service = await serveTopic(topic, directory);
    await untilPartitions(service, [{ partition: 0, next_offset: 10, end_offset: 10, lag: 0 }]);
    await topic.recreate();
    await topic.send(updates(50, 55));
    await service.until('refused', async () => (await service.status()).phase === 'refused');
    await untilPartitions(service, [{ partition: 0, next_offset: 10, end_offset: null, lag: null }]);
    expect(await (await service.get('/metrics')).text()).not.toMatch(/^holdfast_source_lag_messages \d/m);
    expect(await topicOf(service)).toMatchObject({
      stopped: expect.stringContaining('created again'),
      caught_up_at: null,
      lag_seconds: null,
      newest_record_time: null,
    });
  });
});

describe('partitions that are idle', () => {
  const [early, grid, later] = [100, 3 * 3600, 3 * 3600 + 500];
  const far: Row[] = [0, grid, later + 50].map((second) => ({ partition: 0, value: emptyUpdate('a', second) }));
  const passedOver = { kafkaPartitionIdle: '300ms' };

  it('hold the others, and readiness names them', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(far);
    await using service = await serveTopic(topic, directory);
    const named = 'partition 1 is at its end, and the others wait until it has a later message';
    await service.until('held', async () => (await service.readyz()).reasons.includes(named));
    const { counts, source } = await service.status();
    expect(counts.updates).toBe(0);
    expect(source!.topic!.partitions).toMatchObject([
      { partition: 0, next_offset: 0, end_offset: 3, lag: 3 },
      { partition: 1, next_offset: 0, end_offset: 0, lag: 0 },
    ]);
  });

  it('that are passed over may still have messages after the last snapshot', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(far);
    await using service = await serveTopic(topic, directory, passedOver);
    await service.untilReady();
    await topic.send([{ partition: 1, value: emptyUpdate('b', later) }]);
    await service.until('applied', async () => (await service.status()).counts.updates === 4);
    expect((await service.status()).phase).toBe('reading');
  });

  it.each([
    { when: 'while it runs', restart: false },
    { when: 'after a restart', restart: true },
  ])('halt whatever the policy when what they show lies before a snapshot: $when', async ({ restart }) => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send([...far, { partition: 1, value: emptyUpdate('b', 5) }]);
    const options = { ...passedOver, onBadUpdate: 'quarantine' };
    const late = (): Promise<void> => topic.send([{ partition: 1, value: emptyUpdate('b', early) }]);
    const halts = async (service: RunningService): Promise<void> => {
      await service.until('halted', async () => (await service.status()).phase === 'halted');
      const { halted, counts } = await service.status();
      expect(halted).toMatchObject({ kind: 'overtaken', offset: 1 });
      expect(halted!.reason).toContain('its lane was idle, and the others went on without it');
      expect(counts.updates).toBe(restart ? 0 : 4);
    };
    {
      await using service = await serveTopic(topic, directory, options);
      await service.untilReady();
      if (!restart) {
        await late();
        await halts(service);
        return;
      }
    }
    await late();
    await using service = await serveTopic(topic, directory, options);
    await halts(service);
  });
});

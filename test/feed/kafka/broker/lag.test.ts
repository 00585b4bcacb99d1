import { expect, inject, it } from 'vitest';
import { type RunningService, type Status, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

const updates = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition: 0, value: emptyUpdate('s', from + n) }));

type TopicAnswer = NonNullable<NonNullable<Status['source']>['topic']>;

async function topicOf(service: RunningService): Promise<TopicAnswer | null> {
  return (await service.status()).source?.topic ?? null;
}

async function untilPartition(service: RunningService, of: object): Promise<void> {
  const said = async (): Promise<unknown> => (await topicOf(service))?.partitions;
  await expect.poll(said).toEqual([{ partition: 0, first_offset: 0, passed_over: false, ...of }]);
}

it('the lag in /status and the metrics is that of the halt; it counts to the newest record time, and is none at the end', async () => {
  const topic = await createTopic(address);
  await topic.send([...updates(0, 100), { partition: 0, value: '{"foo": 1}' }, ...updates(100, 400)]);
  {
    await using service = await serveTopic(topic, directory);
    await service.until('halted', async () => (await service.status()).phase === 'halted');
    await untilPartition(service, { next_offset: 100, end_offset: 401, lag: 301 });
    // The feed says what it has read last once it has ended.
    const times = async (): Promise<unknown[]> => {
      const { newest_record_time, lag_seconds } = (await topicOf(service))!;
      return [newest_record_time, lag_seconds];
    };
    await expect.poll(times).toEqual(['2025-01-01T00:06:39Z', 300]);
    const metrics = await (await service.get('/metrics')).text();
    expect(metrics).toContain('\nholdfast_source_position{lane="0"} 100\n');
    expect(metrics).toContain('\nholdfast_source_lag_messages 301\n');
    expect(metrics).toContain('\nholdfast_source_lag_seconds 300\n');
  }
  {
    await using service = await serveTopic(topic, directory);
    await service.until('halted', async () => (await service.status()).phase === 'halted');
    await untilPartition(service, { next_offset: 100, end_offset: null, lag: null });
    expect(await service.status()).toMatchObject({ source: { position: { 0: 100 } } });
  }
  const other = await createTopic(address);
  await other.send([...updates(0, 5), { partition: 0, value: null }]);
  const options = { data: directory.at('other') };
  for (const newest of ['2025-01-01T00:00:04Z', null]) {
    await using service = await serveTopic(other, directory, options);
    await untilPartition(service, { next_offset: 6, end_offset: 6, lag: 0 });
    // What is at the second start compared with the views is a tombstone: no time was read.
    expect(await topicOf(service)).toMatchObject({ lag_seconds: 0, newest_record_time: newest });
  }
  await using service = await serveTopic(other, directory, options);
  await untilPartition(service, { next_offset: 6, end_offset: 6, lag: 0 });
  await other.recreate();
  await other.send(updates(50, 55));
  await service.until('refused', async () => (await service.status()).phase === 'refused');
  await untilPartition(service, { next_offset: 6, end_offset: null, lag: null });
  expect(await (await service.get('/metrics')).text()).not.toMatch(/^holdfast_source_lag_messages \d/m);
  const unknown = { caught_up_at: null, lag_seconds: null, newest_record_time: null };
  expect(await topicOf(service)).toMatchObject({ stopped: expect.stringContaining('created again'), ...unknown });
});

it('an idle partition that nobody waits for halts whatever the policy once it shows an update before a snapshot', async () => {
  const topic = await createTopic(address, { partitions: 2 });
  const far: Row[] = [0, 3 * 3600, 3 * 3600 + 550].map((second) => ({ partition: 0, value: emptyUpdate('a', second) }));
  await topic.send([...far, { partition: 1, value: emptyUpdate('b', 5) }]);
  const options = { kafkaPartitionIdle: '300ms', onBadUpdate: 'quarantine' };
  {
    await using service = await serveTopic(topic, directory, options);
    await service.untilReady();
  }
  await topic.send([{ partition: 1, value: emptyUpdate('b', 100) }]);
  await using service = await serveTopic(topic, directory, options);
  await service.until('halted', async () => (await service.status()).phase === 'halted');
  const { halted, counts } = await service.status();
  expect(halted).toMatchObject({ kind: 'overtaken', offset: 1 });
  expect(halted!.reason).toContain('its lane was idle, and the others went on without it');
  expect(counts.updates).toBe(0);
});

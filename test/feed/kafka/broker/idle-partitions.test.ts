import { describe, expect, inject, it } from 'vitest';
import { type RunningService, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

describe('partitions that are idle', () => {
  const [early, grid, later] = [100, 3 * 3600, 3 * 3600 + 500];
  const far: Row[] = [0, grid, later + 50].map((second) => ({ partition: 0, value: emptyUpdate('a', second) }));
  const passedOver = { kafkaPartitionIdle: '1s' };

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
      expect(halted!.reason).toContain('was passed over as idle');
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

import { expect, inject, it } from 'vitest';
import { serve } from '../../../support/kafka/service.ts';
import { createTopic, type TestTopic } from '../../../support/kafka/topic.ts';
import { oddLedger } from '../../../support/ledger/options.ts';
import { intoPartitions } from '../../../support/ledger/partitioned.ts';
import { randomLedger } from '../../../support/ledger/random-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { holdfast } from '../../../support/program/command.ts';
import { temporaryDirectory } from '../../../support/program/temporary-directory.ts';
import { dumpViews } from '../../../support/views/views-dump.ts';

const { addresses } = inject('kafka');

/** The only group that has a position in the topic. */
async function groupOf(topic: TestTopic): Promise<{ groupId: string; offset: string }> {
  return topic.admin(async (admin) => {
    const { groups } = await admin.listGroups();
    const found: { groupId: string; offset: string }[] = [];
    for (const { groupId } of groups) {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic.name] });
      const offset = offsets?.partitions[0]?.offset;
      if (offset !== undefined && offset !== '-1') found.push({ groupId, offset });
    }
    expect(found).toHaveLength(1);
    return found[0]!;
  });
}

it('a topic is read from its start after a rebuild, though its group has a later position', async () => {
  using directory = temporaryDirectory();
  const topic = await createTopic(addresses.plain);
  const rows = intoPartitions(randomLedger({ ...oddLedger(11), synchronizers: 1 }), 1, scanLine);
  await topic.send(rows);
  const data = directory.at('views');
  const readAll = async (): Promise<void> => {
    await using service = await serve({ data, kafkaBrokers: addresses.plain, kafkaTopic: topic.name });
    await service.untilReady();
    // It commits in the background.
    await expect.poll(() => groupOf(topic)).toMatchObject({ offset: String(rows.length) });
  };
  await readAll();
  const views = dumpViews(data);
  expect(views.holding).not.toEqual([]);
  const group = await groupOf(topic);
  expect((await holdfast('rebuild', '--data', data, '--yes')).code).toBe(0);
  expect(dumpViews(data)).not.toEqual(views);
  await readAll();
  expect(dumpViews(data)).toEqual(views);
  expect(await groupOf(topic)).toEqual(group);
});

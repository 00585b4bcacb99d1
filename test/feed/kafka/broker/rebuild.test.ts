import { expect, inject, it } from 'vitest';
import { openForReading } from '../../../../src/views/store/database.ts';
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

/** The group that a data directory has where none is named, and how far it is in the topic. */
async function groupOf(topic: TestTopic, data: string): Promise<{ groupId: string; offset: string | undefined }> {
  const db = openForReading(data);
  const groupId = `holdfast-${db.prepare<[], string>('SELECT directory_id FROM setting').pluck().get()!}`;
  db.close();
  const [offsets] = await topic.admin((admin) => admin.fetchOffsets({ groupId, topics: [topic.name] }));
  return { groupId, offset: offsets?.partitions[0]?.offset };
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
    await expect.poll(() => groupOf(topic, data)).toMatchObject({ offset: String(rows.length) });
  };
  await readAll();
  const views = dumpViews(data);
  expect(views.holding).not.toEqual([]);
  const group = await groupOf(topic, data);
  expect((await holdfast('rebuild', '--data', data, '--yes')).code).toBe(0);
  expect(dumpViews(data)).not.toEqual(views);
  await readAll();
  expect(dumpViews(data)).toEqual(views);
  expect(await groupOf(topic, data)).toEqual(group);
});

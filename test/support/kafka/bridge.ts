import { expect } from 'vitest';
import { readBounds } from '../../../src/feed/kafka/kafka-client.ts';
import type { TemporaryDirectory } from '../program/temporary-directory.ts';
import { replayInto } from '../views/replayed.ts';
import { dumpViews } from '../views/views-dump.ts';
import { serveTopic } from './service.ts';
import type { TestTopic } from './topic.ts';

/** A Holdfast that reads the topic, once it has all of it, has the rows of these lines read from a file. */
export async function expectViewsOf(
  lines: readonly string[],
  topic: TestTopic,
  { directory, dso }: { directory: TemporaryDirectory; dso: string },
): Promise<void> {
  {
    const options = { dso, migrationId: '0', kafkaPartitionIdle: '300ms' };
    await using service = await serveTopic(topic, directory, options);
    const ends = [...(await topic.admin((admin) => readBounds(admin, topic.name)))].map(([_, { high }]) => high);
    const isRead = async (): Promise<boolean> => {
      const partitions = (await service.status()).source?.topic?.partitions ?? [];
      return partitions.length > 0 && partitions.every(({ partition, next_offset }) => next_offset === ends[partition]);
    };
    await service.until('all of the topic is read', isRead);
    expect((await service.status()).halted).toBeNull();
  }
  const wanted = directory.at('wanted');
  const file = directory.writeLines('wanted.ndjson', lines);
  expect(await replayInto(wanted, [file], { dso })).toMatchObject({ halted: null });
  expect(dumpViews(directory.at('views'))).toEqual(dumpViews(wanted));
}

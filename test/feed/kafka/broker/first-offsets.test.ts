import { describe, expect, inject, it } from 'vitest';
import { dropHalted } from '../../../../src/ingest/resolve-halt.ts';
import { type RunningService, serveTopic } from '../../../support/kafka/service.ts';
import { createTopic, type Row, type TestTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { parseLedger } from '../../../support/ledger/parse-ledger.ts';
import { scanLine } from '../../../support/ledger/scan-lines.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const address = inject('kafka').addresses.plain;

const directory = freshDirectory();

const quiet = (partition: number, from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, n) => ({ partition, value: emptyUpdate(`s${partition}`, from + n) }));

const positionOf = async (service: RunningService): Promise<object | undefined> =>
  (await service.status()).source?.position;

/** Waits for a refusal; why. */
async function refusal(service: RunningService): Promise<string> {
  await service.until('refused', async () => (await service.status()).phase === 'refused');
  return (await service.readyz()).reasons.join();
}

async function addPartition(topic: TestTopic): Promise<void> {
  await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 2 }] }));
  const known = (): Promise<number> => topic.admin(async (admin) => (await admin.fetchTopicOffsets(topic.name)).length);
  await expect.poll(known).toBe(2);
}

const LATE = 'this topic begins late for these views: ';

describe('messages that are removed before any of their partition was applied', () => {
  const coins = parseLedger(`
    00:00 @s0 :
    00:01 @s0 :
    01:00 @s1 : +a alice 100
    01:01 @s1 : +b alice 100
    01:02 @s1 : +c alice 100
    01:03 @s1 : +d alice 100
    01:04 @s1 : +e alice 100
  `).map((item, n): Row => ({ partition: n < 2 ? 0 : 1, value: scanLine(item) }));

  it('while it was stopped and they had waited for another partition: it is refused', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(coins);
    {
      await using service = await serveTopic(topic, directory);
      await service.until('waits', async () => (await service.status()).counts.updates === 2);
      expect(await positionOf(service)).toEqual({ 0: 2, 1: 0 });
    }
    await topic.cut(1, 3);
    await topic.send(parseLedger('05:00 @s0 :').map((item) => ({ partition: 0, value: scanLine(item) })));
    await using service = await serveTopic(topic, directory);
    expect(await refusal(service)).toMatch(/partition 1 .* continues at offset 0 .* removed everything before 3/);
    expect(await positionOf(service)).toEqual({ 0: 2, 1: 0 });
  });

  it('while it was stopped and nothing at all was applied: it is refused', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(quiet(0, 0, 5));
    {
      await using service = await serveTopic(topic, directory);
      await service.until('seen', async () => Object.keys((await positionOf(service)) ?? {}).length === 2);
      expect(await positionOf(service)).toEqual({ 0: 0, 1: 0 });
    }
    await topic.cut(0, 3);
    await topic.send(quiet(1, 10, 20));
    await using service = await serveTopic(topic, directory);
    expect(await refusal(service)).toMatch(/partition 0 .* continues at offset 0 .* removed everything before 3/);
  });

  it('while it runs, and it had to connect again: it is refused', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send(coins);
    await using service = await serveTopic(topic, directory);
    await service.until('waits', async () => (await service.status()).counts.updates === 2);
    await topic.cut(1, 3);
    await topic.admin((admin) => admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: 3 }] }));
    expect(await refusal(service)).toMatch(/partition 1 .* continues at offset 0 .* removed everything before 3/);
  });

  it('of a topic that was recreated, and has messages before where they began: it is refused', async () => {
    const topic = await createTopic(address);
    await topic.send(quiet(0, 0, 5));
    await topic.cut(0, 5);
    {
      await using service = await serveTopic(topic, directory);
      await service.until('seen', async () => (await service.status()).source?.position['0'] === 5);
    }
    await topic.recreate();
    await topic.send(quiet(0, 50, 60));
    await using service = await serveTopic(topic, directory);
    expect(await refusal(service)).toMatch(/begins at offset 0.*at 5 when these views first saw it.*created again/);
  });
});

describe('a partition that is new', () => {
  it('is read from its first message, also where it came while no consumer ran', async () => {
    const topic = await createTopic(address);
    await topic.send(quiet(0, 0, 3));
    {
      await using service = await serveTopic(topic, directory);
      await service.until('read', async () => (await service.status()).source?.position['0'] === 3);
    }
    await addPartition(topic);
    await topic.send([...quiet(1, 10, 15), ...quiet(0, 20, 25)]);
    await using service = await serveTopic(topic, directory, { kafkaPartitionIdle: '1ms' });
    await service.until('read', async () => (await service.status()).counts.updates === 10);
    expect(await positionOf(service)).toEqual({ 0: 8, 1: 5 });
    expect((await service.status()).source?.topic).toMatchObject({
      lacking: [],
      partitions: [{ first_offset: 0 }, { first_offset: 0 }],
    });
  });

  it('is refused where its first messages are gone before it was seen', async () => {
    const topic = await createTopic(address);
    await topic.send(quiet(0, 0, 3));
    {
      await using service = await serveTopic(topic, directory);
      await service.until('read', async () => (await service.status()).source?.position['0'] === 3);
    }
    await addPartition(topic);
    await topic.send([...quiet(1, 10, 15), ...quiet(0, 20, 25)]);
    await topic.cut(1, 2);
    await using service = await serveTopic(topic, directory);
    expect(await refusal(service)).toMatch(
      /partition 1 .* is new to these views, and Kafka has removed everything before 2/,
    );
    expect(await positionOf(service)).toEqual({ 0: 3 });
  });
});

describe('a fresh directory that begins above offset 0', () => {
  it('says so once in the log, and always in /status', async () => {
    const topic = await createTopic(address, { partitions: 2 });
    await topic.send([...quiet(0, 0, 5), ...quiet(1, 10, 20)]);
    await topic.cut(1, 4);
    for (let start = 0; start < 2; start++) {
      await using service = await serveTopic(topic, directory, { kafkaPartitionIdle: '1ms' });
      await service.until('read', async () => (await service.status()).counts.updates === (start === 0 ? 11 : 0));
      const lacking = [
        'partition 1 began at offset 4 when these views first saw it: what was before is not in them, unless files had it',
      ];
      await expect
        .poll(async () => (await service.status()).source?.topic)
        .toMatchObject({
          lacking,
          partitions: [
            { partition: 0, first_offset: 0, next_offset: 5 },
            { partition: 1, first_offset: 4, next_offset: 10 },
          ],
        });
      const warnings = service.log.filter(({ message }) => message.startsWith(LATE));
      expect(warnings).toEqual(start === 0 ? [{ level: 'warn', message: `${LATE}${lacking[0]}` }] : []);
    }
  });

  it('says nothing where it begins at 0', async () => {
    const topic = await createTopic(address);
    await topic.send(quiet(0, 0, 5));
    await using service = await serveTopic(topic, directory);
    await service.until('read', async () => (await service.status()).counts.updates === 5);
    expect((await service.status()).source?.topic).toMatchObject({ lacking: [], partitions: [{ first_offset: 0 }] });
    expect(service.log.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});

it('a first message that is dropped is gone past', async () => {
  const topic = await createTopic(address);
  await topic.send([...quiet(0, 0, 2), { partition: 0, value: '{"foo": 1}' }, ...quiet(0, 2, 5)]);
  await topic.cut(0, 2);
  {
    await using service = await serveTopic(topic, directory);
    await service.until('halted', async () => (await service.status()).phase === 'halted');
    expect(await positionOf(service)).toEqual({ 0: 2 });
  }
  dropHalted(directory.at('views'), 1);
  await using service = await serveTopic(topic, directory);
  await service.until('read', async () => (await service.status()).source?.position['0'] === 6);
  expect((await service.status()).counts.updates).toBe(3);
});

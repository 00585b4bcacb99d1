import { describe, expect, it } from 'vitest';
import { createSender } from '../../src/cli/transfer/topic-sender.ts';
import type { TopicProducer } from '../../src/feed/kafka/topic-producer.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';

/** What is sent to each partition of a topic that holds these messages. */
async function sentTo(held: readonly (readonly string[])[], files: readonly (string | null)[]): Promise<string[][]> {
  const sent: string[][] = held.map(() => []);
  const producer: Pick<TopicProducer, 'topic' | 'partitions' | 'send'> = {
    topic: 't',
    partitions: held.length,
    send: async (records) => {
      for (const { partition, value } of records) sent[partition]!.push(String(value && Buffer.from(value)));
    },
  };
  const tails = new Map(
    held.map((values, partition) => [partition, { values: values.map((each) => Buffer.from(each)), isWhole: true }]),
  );
  const options = { mayRepeat: true, logger: keepingLogger() };
  const sender = createSender(producer as TopicProducer, tails, options);
  for (const [i, line] of files.entries())
    await sender.add({ bytes: line === null ? null : Buffer.from(line), offset: i + 1 }, 'feed');
  await sender.flush();
  return sent;
}

const updates = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => emptyUpdate('s', from + n));

describe('a topic that has messages', () => {
  const [had, unread] = [updates(10, 20), '{"not": "a feed"}'];
  const times = [{ synchronizerId: 's', recordTime: '2025-01-01T00:00:19Z' }];
  const checkpoint = JSON.stringify({
    update: { OffsetCheckpoint: { value: { offset: 9, synchronizerTimes: times } } },
  });
  const repair = (id: string): string =>
    JSON.stringify({
      update: {
        Transaction: {
          value: { updateId: id, synchronizerId: 's', recordTime: '2025-01-01T00:00:19Z', offset: 1, events: [] },
        },
      },
    });
  const early = updates(0, 3).map((line) =>
    line.replace(/"record_time":"[^"]*"/, '"record_time":"0001-01-01T00:00:00Z"'),
  );
  it.each<{ name: string; held: string[]; files: string[]; sent: string[] }>([
    { name: 'all that it has', held: had, files: had, sent: [] },
    { name: 'what came before it began', held: had, files: updates(0, 25), sent: updates(20, 25) },
    { name: 'earlier ones only', held: had, files: updates(0, 15), sent: [] },
    { name: 'later ones only', held: had, files: updates(20, 25), sent: updates(20, 25) },
    {
      name: 'later ones behind what cannot be read',
      held: had,
      files: [unread, had[0]!, unread, ...updates(19, 21), unread],
      sent: [unread, ...updates(20, 21), unread],
    },
    { name: 'what cannot be read, and is its end', held: [...had, unread], files: [...had, unread], sent: [unread] },
    {
      name: 'the checkpoint that it ends with',
      held: [...had, checkpoint],
      files: [checkpoint, ...updates(19, 25)],
      sent: updates(20, 25),
    },
    {
      name: 'repairs at its last time',
      held: [...had, repair('a')],
      files: [...had, repair('a'), repair('b')],
      sent: [repair('a'), repair('b')],
    },
    {
      name: 'imports, and ends within them',
      held: early.slice(0, 2),
      files: [...early, ...had],
      sent: [...early, ...had],
    },
    {
      name: 'other synchronizers at its last time',
      held: had,
      files: [emptyUpdate('t', 19), emptyUpdate('s', 19)],
      sent: [emptyUpdate('t', 19)],
    },
    { name: 'nothing', held: had, files: [], sent: [] },
  ])('is sent only what is behind its end: files with $name', async ({ held, files, sent }) => {
    expect(await sentTo([held], files)).toEqual([sent]);
  });
});

it('a synchronizer has a partition of its own, the first that is free, and a checkpoint goes to every one', async () => {
  const checkpoint = JSON.stringify({
    update: {
      OffsetCheckpoint: {
        value: { offset: 9, synchronizerTimes: [{ synchronizerId: 'a', recordTime: '2025-01-01T00:00:19Z' }] },
      },
    },
  });
  const [a, b] = [emptyUpdate('a', 1), emptyUpdate('b', 1)];
  const cut = '{"synchronizer_id": "b", "record_time":';
  const topology = '{"update":{"TopologyTransaction":{"value":{"synchronizerId":"a"}}}}';
  const files = [a, b, emptyUpdate('known', 2), cut, topology, checkpoint, null, '{"foo": 1}'];
  expect(await sentTo([[], [emptyUpdate('known', 1)], []], files)).toEqual([
    [a, topology, checkpoint, 'null', '{"foo": 1}'],
    [emptyUpdate('known', 2), checkpoint],
    [b, cut, checkpoint],
  ]);
  await expect(sentTo([[], []], [a, b, emptyUpdate('c', 1)])).rejects.toThrow('has 2 partitions, each with a synch');
  expect(await sentTo([[]], [a, b])).toEqual([[a, b]]);
});

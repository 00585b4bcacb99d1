import { describe, expect, it } from 'vitest';
import { importMarker, seedImports } from '../../demo/active-contracts.ts';
import { createSender } from '../../src/cli/transfer/topic-sender.ts';
import type { TopicProducer } from '../../src/feed/kafka/topic-producer.ts';
import { keepingLogger } from '../support/kafka/reading.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';

/** What is sent to each partition of a topic that holds these messages. `isWhole`: and none before them. */
async function sentTo(
  held: readonly (readonly string[])[],
  files: readonly (string | null)[],
  { isWhole = true, requests = [] }: { isWhole?: boolean; requests?: number[][] } = {},
): Promise<string[][]> {
  const sent: string[][] = held.map(() => []);
  const producer: Pick<TopicProducer, 'topic' | 'partitions' | 'send'> = {
    topic: 't',
    partitions: held.length,
    send: async (records) => {
      requests.push(records.map(({ partition }) => partition));
      for (const { partition, value } of records) sent[partition]!.push(String(value && Buffer.from(value)));
    },
  };
  const tails = new Map(
    held.map((values, partition) => [partition, { values: values.map((each) => Buffer.from(each)), isWhole }]),
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
const times = [{ synchronizerId: 's', recordTime: '2025-01-01T00:00:19Z' }];
const checkpoint = JSON.stringify({ update: { OffsetCheckpoint: { value: { offset: 9, synchronizerTimes: times } } } });
const inMigration4 = (line: string): string => line.replace('"migration_id":0', '"migration_id":4');

describe('a topic that has messages', () => {
  const [had, unread] = [updates(10, 20), '{"not": "a feed"}'];
  const ofParticipant = (updateId: string, second: number): string => {
    const value = { updateId, synchronizerId: 's', recordTime: `2025-01-01T00:00:${second}Z`, offset: 1, events: [] };
    return JSON.stringify({ update: { Transaction: { value } } });
  };
  const [a, b, later] = [ofParticipant('a', 19), ofParticipant('b', 19), ofParticipant('c', 20)];
  const own = [a, checkpoint, later];
  const imports = seedImports(
    ['0a', '0b', '0c'].map((contract_id) => {
      const created = { event_type: 'created_event', contract_id, template_id: 'p:Other:T', create_arguments: {} };
      return { created, updateId: null };
    }),
    4,
  );
  const early = imports.map((line) => line.replace('"seed":true,', ''));
  const of4 = updates(5, 15).map(inMigration4);
  const imported = [...imports, importMarker(4, '2025-01-01T00:00:10Z', { s: '2025-01-01T00:00:10Z' })];
  it.each<{ name: string; held: string[]; isWhole?: boolean; files: string[]; sent: string[] }>([
    { name: 'all that it has', held: had, files: had, sent: [] },
    { name: 'what came before it began', held: had, files: updates(0, 25), sent: updates(20, 25) },
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
    { name: 'repairs at its last time', held: [...had, a], files: [...had, a, b], sent: [a, b] },
    { name: 'updates of a Scan behind an import', held: imported, files: [...imported, ...of4], sent: of4.slice(6) },
    { name: 'those of a participant behind it', held: imported, files: [...imported, ...own], sent: own },
    {
      name: 'them, and ends behind it',
      held: [...imported, ...own],
      files: [...imported, ofParticipant('d', 15), ...own],
      sent: [later],
    },
    { name: 'them, and ends far behind it', held: own, isWhole: false, files: [...imported, ...own], sent: [later] },
    {
      name: 'imports, and ends within them',
      held: early.slice(0, 2),
      files: [...early, ...of4],
      sent: [...early, ...of4],
    },
    {
      name: 'other synchronizers at its last time',
      held: had,
      files: [emptyUpdate('t', 19), emptyUpdate('s', 19)],
      sent: [emptyUpdate('t', 19)],
    },
  ])('is sent only what is behind its end: files with $name', async ({ held, files, sent, isWhole }) => {
    expect(await sentTo([held], files, { isWhole: isWhole ?? true })).toEqual([sent]);
  });
});

it('a synchronizer has a partition of its own, the first that is free, and a checkpoint goes to every one', async () => {
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
  // Alone: the first update of each synchronizer and migration, and the marker, of which the partition with the imports comes last.
  const requests: number[][] = [];
  const files4 = [a, b, ...[a, b, a].map(inMigration4), importMarker(4, '2025-01-01T00:00:10Z')];
  await sentTo([[], []], files4, { requests });
  expect(requests).toEqual([[0], [1], [0], [1], [0], [1, 0]]);
});

import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import { ViewsWriter } from '../../src/views/write/writer.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { activeContracts, seedImports, seedMark } from '../support/scan/active-contracts.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const directory = freshDirectory();

const at = (second: number): string => emptyUpdate('s', second);
const markAt = (second: number): string => seedMark(0, new Date(Date.UTC(2025, 0, 1) + second * 1000).toISOString());
const TIME_101 = '2025-01-01T00:01:41Z';
const checkpointAt = (second: number): string => {
  const recordTime = new Date(Date.UTC(2025, 0, 1) + second * 1000).toISOString();
  const value = { offset: 9, synchronizerTimes: [{ synchronizerId: 's', recordTime }] };
  return JSON.stringify({ update: { OffsetCheckpoint: { value } } });
};
const CREATED = linesOf(parseLedger('00:01 : +a alice 10'), 'scan');
const [IMPORT = ''] = seedImports(activeContracts(CREATED, { migrationId: 0, recordTime: '2026' }), 0);

/** A file with a seed of second 100, and then what a topic has in its partitions. */
const CASES: readonly (readonly [name: string, partitions: readonly (readonly string[])[], isGap: boolean])[] = [
  ['begins after the seed', [[at(101)]], true],
  ['begins with what the seed has', [[at(100), at(101)]], false],
  ['begins with what the seed has in one of its partitions', [[at(99)], [emptyUpdate('t', 101)]], false],
  ['begins with an earlier seed', [[IMPORT, markAt(90), at(101)]], false],
  ['begins with a later seed', [[IMPORT, markAt(110), at(111)]], true],
  ['begins with a checkpoint after the seed', [[checkpointAt(300), at(301)]], true],
  ['begins with a checkpoint that the seed has', [[checkpointAt(100), at(101)]], false],
];

/** A batch for each message, as after a restart before each. */
function applyTopic(data: string, partitions: readonly (readonly string[])[]): void {
  for (const [partition, lines] of partitions.entries())
    for (const [offset, line] of lines.entries()) {
      using writer = new ViewsWriter(data, WRITER_OPTIONS);
      writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
      writer.followSource({ identity: 'it', cursors: new Map(partitions.map((_, each) => [String(each), '0'])) });
      writer.apply(decodeAlone({ lane: String(partition), offset, bytes: Buffer.from(line) }));
      writer.commit();
    }
}

it.each(CASES)('a topic that %s, after a file with a seed', async (_, partitions, isGap) => {
  const data = directory.at('data');
  const seed = directory.writeLines('seed.ndjson', [IMPORT, markAt(100)]);
  expect(await replayInto(data, [seed])).toMatchObject({ halted: null });
  const apply = (): void => applyTopic(data, partitions);
  if (isGap)
    expect(apply).toThrow(/^possible gap: the files end with a seed of 2025-01-01T00:01:40Z, and topic t starts/);
  else expect(apply).not.toThrow();
});

/** What a topic has behind a seed of second 100 and an update of second 101. */
const MORE: readonly (readonly [name: string, more: readonly string[], isGap: boolean])[] = [
  ['the same seed', [IMPORT, markAt(100), at(102)], false],
  ['a seed as late as the last update', [IMPORT, markAt(101), at(102)], false],
  ['a later seed', [IMPORT, markAt(102), at(103)], true],
  ['a seed that is later of one synchronizer', [seedMark(0, TIME_101, { t: TIME_101 })], true],
];

it.each(MORE)('a topic that goes on with %s', (_, more, isGap) => {
  const data = directory.at('data');
  mkdirSync(data);
  const apply = (): void => applyTopic(data, [[IMPORT, markAt(100), at(101), ...more]]);
  if (isGap) expect(apply).toThrow(/^possible gap: topic t has a seed of .*, and what was read before it ends /);
  else expect(apply).not.toThrow();
});

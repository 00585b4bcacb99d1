import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { activeContracts, importMarker, seedImports } from '../../demo/active-contracts.ts';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import { openEventLoopStore } from '../../src/views/read/views-store.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import { verifyViews } from '../../src/views/verify/verify-views.ts';
import {
  IMPORT_TIME,
  isLate,
  loadLanes,
  markPositionsStored,
  newLane,
  noteFurthest,
  PositionMoved,
  preparePositions,
} from '../../src/views/write/positions.ts';
import { PossibleGap } from '../../src/views/write/source-start.ts';
import { ViewsWriter, type WriterOptions } from '../../src/views/write/writer.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { parseLedger } from '../support/ledger/parse-ledger.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { type Format, linesOf, replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const directory = freshDirectory();
let data: string;
beforeEach(() => {
  data = directory.at('data');
  makeDataDirectory(data);
});

const IDENTITY = '{"clusterId":"c","topic":"t"}';
const startOf = (...firstOffsets: number[]) => ({
  identity: IDENTITY,
  resumeTokens: new Map(firstOffsets.map((offset, partition) => [String(partition), String(offset)])),
});

function following(changes: Partial<WriterOptions> = {}): ViewsWriter {
  const writer = new ViewsWriter(data, { ...WRITER_OPTIONS, ...changes });
  writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
  return writer;
}

function applyOf(
  writer: ViewsWriter,
  { partition, offset }: { partition: number; offset: number },
  line: string,
): void {
  const chunk = decodeAlone({ lane: String(partition), offset, bytes: Buffer.from(line) });
  expect(writer.apply(chunk)).toEqual({ done: true });
}

function inFile<T>(body: (db: DatabaseFile.Database) => T, dataDir = data): T {
  const db = new DatabaseFile(join(dataDir, 'views.db'));
  try {
    return body(db);
  } finally {
    db.close();
  }
}

const stored = (): unknown[] =>
  inFile((db) => {
    const rows = db.prepare('SELECT lane, start, cursor, sha256 IS NOT NULL FROM position').raw().all();
    return [db.prepare('SELECT feed FROM setting').pluck().get(), ...rows];
  });

function verify(dataDir = data): string[] {
  const found: string[] = [];
  const steps = verifyViews(dataDir, ({ table, expected }) => found.push(`${table}: ${expected}`));
  while (steps.next().done !== true);
  return found;
}

describe('where a topic begins', () => {
  it('is stored before anything of it is applied, and of a partition that comes later too', () => {
    {
      using writer = following();
      expect(writer.storedSource).toEqual({ identity: null, lanes: new Map() });
      writer.followSource(startOf(0, 7));
      expect(stored()).toEqual([IDENTITY, ['0', '0', '0', 0], ['1', '7', '7', 0]]);
      applyOf(writer, { partition: 1, offset: 9 }, emptyUpdate('s', 1));
      writer.followSource(startOf(0, 7, 0));
      expect(stored()).toEqual([IDENTITY, ['0', '0', '0', 0], ['1', '7', '10', 1], ['2', '0', '0', 0]]);
    }
    expect(verify()).toEqual([]);
    using again = new ViewsWriter(data, WRITER_OPTIONS);
    expect([...again.storedSource.lanes]).toMatchObject([
      ['0', { start: '0', resumeToken: '0', sha256: null }],
      ['1', { start: '7', resumeToken: '10', sha256: expect.any(Buffer) }],
      ['2', { start: '0', resumeToken: '0', sha256: null }],
    ]);
  });

  it('is known before a message: one of another partition is not applied', () => {
    using writer = following();
    writer.followSource(startOf(0));
    expect(() => applyOf(writer, { partition: 1, offset: 0 }, emptyUpdate('s', 1))).toThrow('a message of lane 1');
  });

  it('makes the topic overlap with the files that were replayed before any of it was applied', async () => {
    {
      using writer = following();
      writer.followSource(startOf(0));
    }
    await replayInto(data, [directory.writeLines('feed.ndjson', [emptyUpdate('s', 10)])]);
    using writer = following();
    writer.followSource(startOf(0));
    expect(() => applyOf(writer, { partition: 0, offset: 0 }, emptyUpdate('s', 20))).toThrow(PossibleGap);
  });
});

describe('who is followed', () => {
  it('is read again while half a seed may begin anew with other parties, and stays once there is a time', async () => {
    using writer = following();
    using store = openEventLoopStore(data);
    const [a, b, c] = ['a::1220', 'b::1220', 'c::1220'];
    const others = async (): Promise<readonly string[]> => {
      await nextTurn();
      return (await store.facts({ kind: 'followed', parties: [a, b, c] })).others;
    };
    expect(await others()).toEqual([]);
    writer.followSource({ ...startOf(0), followed: [a, b], restarts: true });
    expect(await others()).toEqual([c]);
    writer.followSource({ ...startOf(0), followed: [b, c], restarts: true });
    expect(await others()).toEqual([a]);
    applyOf(writer, { partition: 0, offset: 0 }, emptyUpdate('s', 1));
    writer.commit();
    expect(await others()).toEqual([a]);
    expect(() => writer.followSource({ ...startOf(0), followed: [a, b], restarts: true })).toThrow(/other parties/);
    expect(await others()).toEqual([a]);
  });
});

describe('a position that is shown', () => {
  it('is the one on disk, also while what was applied since cannot be written', () => {
    using writer = following();
    writer.followSource(startOf(0));
    const storedToken = (): unknown => writer.state.lanes.get('0')?.storedToken;
    applyOf(writer, { partition: 0, offset: 0 }, emptyUpdate('s', 1));
    const fault = new Error('the last statement of the transaction fails');
    expect(() =>
      writer.commit(() => {
        throw fault;
      }),
    ).toThrow(fault);
    expect(storedToken()).toBe('0');
    writer.commit();
    expect(storedToken()).toBe('1');
  });
});

/** Files that end with two updates at one time, and then a topic from its first message on. */
async function filesThenTopic(topic: string, format: Format = 'ledger-api'): Promise<ViewsWriter['counts']> {
  const files = linesOf(
    parseLedger('00:01 =a : +a alice 10\n00:02 =b : +b bob 20\n00:02 =c : +c carol 30'),
    'ledger-api',
  );
  await replayInto(directory.at('data'), [directory.writeLines('feed.ndjson', files)]);
  using writer = new ViewsWriter(directory.at('data'), WRITER_OPTIONS);
  writer.beginSource({ name: 'topic t', kind: TOPIC_KIND });
  writer.followSource({ identity: '{"clusterId":"c","topic":"t"}', resumeTokens: new Map([['0', '0']]) });
  for (const [offset, line] of linesOf(parseLedger(topic), format).entries()) {
    const chunk = decodeAlone({ lane: '0', offset, bytes: Buffer.from(line) });
    const applied = writer.apply(chunk);
    if (!applied.done) throw new Error(applied.halted?.reason);
  }
  writer.commit();
  return writer.counts;
}

describe('a topic after files that end with several updates at one time', () => {
  it.each([
    ['the first of them', '00:02 =b : +b bob 20\n00:02 =c : +c carol 30', 2],
    ['the last of them', '00:02 =c : +c carol 30', 1],
    ['an update before them', '00:01 =a : +a alice 10\n00:02 =b : +b bob 20\n00:02 =c : +c carol 30', 3],
  ])('overlaps where it begins with %s; another one at their time is then new', async (_, known, redelivered) => {
    const counts = await filesThenTopic(`${known}\n00:02 =d : +d dave 40\n00:03 =e : -d`);
    expect(counts).toMatchObject({ updates: 2, redelivered });
  });

  it.each([
    ['with another one at that time', '00:02 =d : +d dave 40'],
    ['later', '00:03 =e : +d dave 40'],
    ['with a synchronizer that the files do not have', '00:03 @z =e : +d dave 40'],
  ])('may lack some in between where it begins %s', async (_, topic) => {
    await expect(filesThenTopic(topic)).rejects.toThrow(PossibleGap);
  });

  it('seals nothing by a checkpoint of another synchronizer before it has shown any of theirs', async () => {
    const counts = await filesThenTopic('checkpoint : @z 01:00\n00:02 =c : +c carol 30');
    expect(counts).toMatchObject({ checkpointsBehind: 1, redelivered: 1 });
  });

  it('comes in disorder where that other one is of format A', async () => {
    await expect(filesThenTopic('00:02 =d : +d dave 40', 'scan')).rejects.toThrow('expected a time after');
  });
});

const at = (second: number): string => emptyUpdate('s', second);
const markAt = (second: number): string =>
  importMarker(0, new Date(Date.UTC(2025, 0, 1) + second * 1000).toISOString());
const TIME_101 = '2025-01-01T00:01:41Z';
const checkpointAt = (second: number): string => {
  const recordTime = new Date(Date.UTC(2025, 0, 1) + second * 1000).toISOString();
  const value = { offset: 9, synchronizerTimes: [{ synchronizerId: 's', recordTime }] };
  return JSON.stringify({ update: { OffsetCheckpoint: { value } } });
};
const CREATED = linesOf(parseLedger('00:01 : +a alice 10'), 'scan');
const [IMPORT = ''] = seedImports(activeContracts(CREATED, { migrationId: 0, recordTime: '2026' }), 0);

/** A file with a snapshot import of second 100, and then what a topic has in its partitions. */
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
      writer.followSource({ identity: 'it', resumeTokens: new Map(partitions.map((_, each) => [String(each), '0'])) });
      writer.apply(decodeAlone({ lane: String(partition), offset, bytes: Buffer.from(line) }));
      writer.commit();
    }
}

it.each(CASES)('a topic that %s, after a file with a snapshot import', async (_, partitions, isGap) => {
  const seed = directory.writeLines('seed.ndjson', [IMPORT, markAt(100)]);
  expect(await replayInto(data, [seed])).toMatchObject({ halted: null });
  const apply = (): void => applyTopic(data, partitions);
  if (isGap)
    expect(apply).toThrow(
      /^possible gap: the files end with a snapshot import of 2025-01-01T00:01:40Z, and topic t starts/,
    );
  else expect(apply).not.toThrow();
});

/** What a topic has behind a seed of second 100 and an update of second 101. */
const MORE: readonly (readonly [name: string, more: readonly string[], isGap: boolean])[] = [
  ['the same seed', [IMPORT, markAt(100), at(102)], false],
  ['a seed as late as the last update', [IMPORT, markAt(101), at(102)], false],
  ['a later seed', [IMPORT, markAt(102), at(103)], true],
  ['a seed that is later of one synchronizer', [importMarker(0, TIME_101, { t: TIME_101 })], true],
];

it.each(MORE)('a topic that goes on with %s', (_, more, isGap) => {
  const apply = (): void => applyTopic(data, [[IMPORT, markAt(100), at(101), ...more]]);
  if (isGap)
    expect(apply).toThrow(/^possible gap: topic t has a snapshot import of .*, and what was read before it ends /);
  else expect(apply).not.toThrow();
});

it('a writer that another one has overtaken, and does not know it, stores no position', () => {
  makeDataDirectory(directory.at('views'));
  new ViewsWriter(directory.at('views'), WRITER_OPTIONS)[Symbol.dispose]();
  using db = Object.assign(new DatabaseFile(directory.at('views/views.db')), {
    [Symbol.dispose]() {
      db.close();
    },
  });
  const save = preparePositions(db);
  const lanes = new Map([['0', newLane('topic t', { start: '0', resumeToken: '0' })]]);
  const early = new Map([['0', newLane('topic t', { start: '0', resumeToken: '7' })]]);
  save(lanes);
  markPositionsStored(lanes);
  const stale = loadLanes(db);
  lanes.get('0')!.resumeToken = '5';
  save(lanes);
  for (const overtaken of [stale, early, new Map()]) expect(() => save(overtaken)).toThrow(PositionMoved);
  expect(loadLanes(db).get('0')!.resumeToken).toBe('5');
});

/** Messages `<partition>:<migration>@<time>` as they are applied, `i` for an import; `*` after those that were overtaken. */
const ORDERS = [
  { name: 'one partition, in order', messages: '0:0@1 0:0@5 0:0@9' },
  { name: 'one partition whose synchronizers are apart', messages: '0:0@5 0:0@3 0:0@9 0:0@4' },
  { name: 'two partitions in merge order', messages: '0:0@1 1:0@2 0:0@3 1:0@3 0:0@7' },
  { name: 'a partition that falls behind itself', messages: '0:0@1 1:0@8 1:0@2 0:0@9' },
  { name: 'a partition that was passed over', messages: '0:0@1 1:0@2 0:0@9 1:0@5* 1:0@6* 1:0@9 1:0@10' },
  { name: 'one that comes for the first time', messages: '0:0@9 1:0@5* 1:0@9' },
  { name: 'an import after updates of its migration', messages: '0:1@i 0:1@3 1:1@i* 1:1@4' },
  { name: 'an import of a later migration', messages: '0:0@9 1:1@i 0:1@2' },
  { name: 'an older migration', messages: '0:1@1 1:0@9* 1:1@2' },
];

it.each(ORDERS)('$name', ({ messages }) => {
  const lanes = new Map(['0', '1'].map((lane) => [lane, newLane('topic', { start: '0', resumeToken: '0' })]));
  const found = messages.split(' ').map((message) => {
    const [, lane, migrationId, time] = /^(\d):(\d)@(\d+|i)/.exec(message)!;
    const at = { migrationId: Number(migrationId), recordTime: time === 'i' ? IMPORT_TIME : Number(time) };
    const overtaken = isLate(lanes, lanes.get(lane!)!, at);
    noteFurthest(lanes.get(lane!)!, at);
    return `${message.replace('*', '')}${overtaken ? '*' : ''}`;
  });
  expect(found.join(' ')).toBe(messages);
});

it('says nothing of files', () => {
  const furthest = { migrationId: 0, recordTime: 9 };
  const file = newLane('feed.ndjson', { start: null, resumeToken: '1' });
  const lanes = new Map([
    ['0', { ...newLane('topic', { start: '0', resumeToken: '0' }), furthest }],
    ['file', file],
  ]);
  expect(isLate(lanes, file, { migrationId: 0, recordTime: 1 })).toBe(false);
});

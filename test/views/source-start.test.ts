import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { TOPIC_KIND } from '../../src/feed/kafka/kafka-kind.ts';
import { openEventLoopStore } from '../../src/views/read/views-store.ts';
import { makeDataDirectory } from '../../src/views/store/database.ts';
import { verifyViews } from '../../src/views/verify/verify-views.ts';
import { preparePositions } from '../../src/views/write/positions.ts';
import { PossibleGap } from '../../src/views/write/possible-gap.ts';
import { ViewsWriter, type WriterOptions } from '../../src/views/write/writer.ts';
import { emptyUpdate } from '../support/ledger/empty-update.ts';
import { freshDirectory } from '../support/program/fresh-directory.ts';
import { decodeAlone } from '../support/views/inline-feed.ts';
import { replayInto, WRITER_OPTIONS } from '../support/views/replayed.ts';

const directory = freshDirectory();
let data: string;
beforeEach(() => {
  data = directory.at('data');
  makeDataDirectory(data);
});

const IDENTITY = '{"clusterId":"c","topic":"t"}';
const startOf = (...firstOffsets: number[]) => ({
  identity: IDENTITY,
  cursors: new Map(firstOffsets.map((offset, partition) => [String(partition), String(offset)])),
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
  const steps = verifyViews(dataDir, ({ table, expected }) => found.push(`${table}: ${expected}`), {
    rowsPerStep: 1_000,
  });
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
      ['0', { start: '0', cursor: '0', sha256: null }],
      ['1', { start: '7', cursor: '10', sha256: expect.any(Buffer) }],
      ['2', { start: '0', cursor: '0', sha256: null }],
    ]);
  });

  it('is stored by the next try where the first one fails, also of a partition that comes later', () => {
    const fault = new Error('the transaction fails');
    let failures = 0;
    using writer = following({
      positions: (db) => {
        const save = preparePositions(db);
        return (partitions) => {
          save(partitions);
          if (partitions.size > failures && failures < 2) {
            failures += 1;
            throw fault;
          }
        };
      },
    });
    expect(() => writer.followSource(startOf(3))).toThrow(fault);
    expect(stored()).toEqual([null]);
    writer.followSource(startOf(3));
    applyOf(writer, { partition: 0, offset: 3 }, emptyUpdate('s', 1));
    writer.commit();
    expect(() => writer.followSource(startOf(3, 0))).toThrow(fault);
    expect(stored()).toEqual([IDENTITY, ['0', '3', '4', 1]]);
    writer.followSource(startOf(3, 0));
    expect(stored()).toEqual([IDENTITY, ['0', '3', '4', 1], ['1', '0', '0', 0]]);
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
    const storedCursor = (): unknown => writer.state.lanes.get('0')?.storedCursor;
    applyOf(writer, { partition: 0, offset: 0 }, emptyUpdate('s', 1));
    const fault = new Error('the last statement of the transaction fails');
    expect(() =>
      writer.commit(() => {
        throw fault;
      }),
    ).toThrow(fault);
    expect(storedCursor()).toBe('0');
    writer.commit();
    expect(storedCursor()).toBe('1');
  });
});

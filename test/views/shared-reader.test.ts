import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { openSharedViewsReader } from '../../src/views/read/reader.ts';
import { fixture, readExpected } from '../http/expected-answers.ts';
import { makeDataDirectory } from '../http/holdings-service.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const lowest = BigInt(readExpected('story').lowest_open_round);
const writer = new DatabaseFile(join(dataDir, 'views.db'));
afterAll(() => void writer.close());

describe('the reader of a server', () => {
  test('sees one moment in all reads of a turn of the event loop, and what was committed since in the next', async () => {
    using views = openSharedViewsReader(dataDir);
    const lowestRound = (): bigint | null => views.read((reader) => reader.lowestOpenRound());
    expect(lowestRound()).toBe(lowest);
    writer.prepare('UPDATE round SET number = number + 1000').run();
    expect(lowestRound()).toBe(lowest);
    await nextTurn();
    expect(lowestRound()).toBe(lowest + 1000n);
  });

  test('goes on after a read that threw, and may be closed in the middle of a turn', async () => {
    const views = openSharedViewsReader(dataDir);
    const failing = (): void => {
      throw new Error('as asked');
    };
    expect(() => views.read(failing)).toThrow('as asked');
    expect(views.read((reader) => reader.lastMigration())).toBe(0);
    views[Symbol.dispose]();
    await nextTurn();
    expect(() => views.read((reader) => reader.lastMigration())).toThrow('not open');
  });
});

import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import DatabaseFile from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { NOT_BOUNDED } from '../../src/views/read/stored-snapshots.ts';
import { openEventLoopStore } from '../../src/views/read/views-store.ts';
import { fixture, readExpected } from '../support/http/expected-answers.ts';
import { makeDataDirectory } from '../support/http/holdings-service.ts';

const dataDir = await makeDataDirectory([fixture('story.scan.ndjson')]);
const expected = readExpected('story');
const lowest = BigInt(expected.lowest_open_round);
const newest = { migrationId: null, recordTime: null, match: 'exact' } as const;
const writer = new DatabaseFile(join(dataDir, 'views.db'));
afterAll(() => void writer.close());

describe("the store of a server's event loop", () => {
  test('sees one moment in all reads of a turn of the event loop, and what was committed since in the next', async () => {
    using store = openEventLoopStore(dataDir);
    const lowestRound = async (): Promise<bigint | null> =>
      (await store.facts({ kind: 'owners', snapshot: newest, owners: [], round: 'lowest open' })).round;
    expect(await lowestRound()).toBe(lowest);
    writer.prepare('UPDATE round SET number = number + 1000').run();
    expect(await lowestRound()).toBe(lowest);
    await nextTurn();
    expect(await lowestRound()).toBe(lowest + 1000n);
  });

  test('refuses unbounded reads, and continues', async () => {
    using store = openEventLoopStore(dataDir);
    const page = { snapshot: newest, owners: expected.owner_party_ids, after: null, pageSize: 1 } as const;
    await expect(store.facts({ kind: 'page', ...page })).rejects.toBe(NOT_BOUNDED);
    await expect(store.facts({ kind: 'snapshots' })).rejects.toBe(NOT_BOUNDED);
    expect(await store.facts({ kind: 'last migration' })).toBe(0);
  });

  test('may be closed in the middle of a turn', async () => {
    const store = openEventLoopStore(dataDir);
    expect(await store.facts({ kind: 'last migration' })).toBe(0);
    store[Symbol.dispose]();
    await nextTurn();
    await expect(store.facts({ kind: 'last migration' })).rejects.toThrow('not open');
  });
});

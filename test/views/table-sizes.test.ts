import type { Database } from 'better-sqlite3';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createTableMeasurer, measureNowAndThen } from '../../src/views/read/measured-tables.ts';
import { readTableSizes, type TableSizes } from '../../src/views/read/table-sizes.ts';
import { openForReading } from '../../src/views/store/database.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const MINUTE_MS = 60_000;

function rowsCounted(db: Database): Record<string, number> {
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  return Object.fromEntries(
    tables.map((table) => [table, db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!]),
  );
}

it('the sizes of all tables have every row and every page of the file', async () => {
  using directory = temporaryDirectory();
  const feed = linesOf(randomLedger(oddLedger(81, { updates: 2_000, owners: 300, activeTarget: 800 })), 'scan');
  // A dead letter's bytes are on pages of their own.
  const tooLong = `{"update_id":"${'7'.repeat(20_000)}"}`;
  const file = directory.writeLines('feed', [...feed, tooLong]);
  await replayInto(directory.at('data'), [file]);
  const db = openForReading(directory.at('data'));
  const sizes = Object.entries(readTableSizes(db, { treeMsMax: MINUTE_MS }));
  expect(Object.fromEntries(sizes.map(([table, size]) => [table, size?.rows]))).toEqual(rowsCounted(db));
  expect(rowsCounted(db)).toMatchObject({ dead_letter: 1 });
  const pages =
    (db.pragma('page_count', { simple: true }) as number) - (db.pragma('freelist_count', { simple: true }) as number);
  const bytes = sizes.reduce((sum, [, size]) => sum + size!.bytes, 0);
  // The list of the tables is on a page or more of its own.
  const own = db.prepare<[], number>("SELECT sum(pgsize) FROM dbstat WHERE name = 'sqlite_schema'").pluck().get()!;
  expect(bytes + own).toBe(pages * 4096);
  const tooSlow = readTableSizes(db, { treeMsMax: -1 });
  expect([...new Set(Object.values(tooSlow))]).toEqual([null]);
  expect(Object.keys(tooSlow)).toEqual(sizes.map(([table]) => table));
  db.close();
});

it('tables are measured again when five minutes have passed, or a hundred times as long as it took', async () => {
  let nowMs = 0;
  const takesMs = [5_000, 50_000];
  const failing = 2;
  let times = 0;
  const tables = measureNowAndThen(
    async () => {
      nowMs += takesMs[times] ?? 0;
      times++;
      const sizes: TableSizes = { owner: { rows: times, bytes: 4096 } };
      return times > failing ? null : sizes;
    },
    () => nowMs,
  );
  const lookAt = async (ms: number): Promise<readonly [number, number | undefined]> => {
    nowMs = ms;
    tables();
    await new Promise(setImmediate);
    return [times, tables()?.sizes.owner?.rows];
  };
  expect(tables()).toBe(null);
  await new Promise(setImmediate);
  expect(tables()).toEqual({ sizes: { owner: { rows: 1, bytes: 4096 } }, atMs: 0 });
  // It ended at 5 s.
  expect(await lookAt(5_000 + 500_000 - 1)).toEqual([1, 1]);
  expect(await lookAt(5_000 + 500_000)).toEqual([2, 2]);
  const second = 505_000 + 50_000;
  expect(await lookAt(second + 5_000_000 - 1)).toEqual([2, 2]);
  // What was known stays known where it cannot be measured; the next is due after five minutes.
  const third = second + 5_000_000;
  expect(await lookAt(third)).toEqual([3, 2]);
  expect(await lookAt(third + 5 * MINUTE_MS - 1)).toEqual([3, 2]);
  expect(await lookAt(third + 5 * MINUTE_MS)).toEqual([4, 2]);
});

it('where the tables cannot be measured, the log says why and nothing else happens', async () => {
  using directory = temporaryDirectory();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  await using measurer = createTableMeasurer(directory.path, logger);
  expect(measurer.tables()).toBe(null);
  await expect.poll(() => lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    msg: 'the tables cannot be measured',
    err: { message: expect.stringContaining('there is no views.db in it') as string },
  });
  expect(measurer.tables()).toBe(null);
});

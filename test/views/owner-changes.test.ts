import { cpSync } from 'node:fs';
import DatabaseFile from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { NO_COIN, type Order } from '../../src/holdings/facts.ts';
import { readChanges } from '../../src/views/read/insight-reader.ts';
import { openHoldings } from '../support/http/holdings-service.ts';
import { allRows } from '../support/http/table-pages.ts';
import { oddLedger } from '../support/ledger/options.ts';
import { randomLedger } from '../support/ledger/random-ledger.ts';
import { temporaryDirectory } from '../support/program/temporary-directory.ts';
import { linesOf, replayInto } from '../support/views/replayed.ts';

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const whole = folder.at('whole');
const options = oddLedger(11, { updates: 400, shares: { checkpoint: 0 } });
await replayInto(whole, [folder.writeLines('feed.ndjson', linesOf(randomLedger(options), 'scan'))]);

interface Owner {
  readonly id: number;
  readonly party: string;
}

test("a history and a list of changes read the owner's changes in the range, and none of its contracts", async () => {
  const db = new DatabaseFile(`${whole}/views.db`);
  const { id, party } = db
    .prepare<[], Owner>(
      'SELECT id, party FROM owner JOIN owner_total ON owner = id GROUP BY id ORDER BY count(*) DESC LIMIT 1',
    )
    .get()!;
  const times = db
    .prepare<[], { time: number; seq: number }>('SELECT record_time AS time, seq FROM snapshot ORDER BY seq')
    .all();
  db.close();
  const [first, last] = [times[Math.floor(times.length / 4)]!, times[Math.floor(times.length / 2)]!];

  const bare = folder.at('bare');
  cpSync(whole, bare, { recursive: true });
  const left = new DatabaseFile(`${bare}/views.db`);
  for (const table of ['holding', 'held', 'spent']) left.exec(`DELETE FROM ${table}`);
  left.prepare('DELETE FROM owner_total WHERE owner <> ? OR seq > ?').run(id, last.seq);
  const before = left
    .prepare<[number, number], number>('SELECT max(seq) FROM owner_total WHERE owner = ? AND seq < ?')
    .pluck();
  left.prepare('DELETE FROM owner_total WHERE seq < ?').run(before.get(id, first.seq));
  left.close();

  const range = { from: isoTime(first.time), to: isoTime(last.time) };
  using all = openHoldings(whole);
  using few = openHoldings(bare);
  for (const [table, given] of [
    ['history', { every: '10m' }],
    ['history', {}],
    ['changes', { limit: 1000 }],
    ['changes', { limit: 2, order: 'asc' }],
  ] as const) {
    const path = `/holdfast/v1/owners/${party}/${table}`;
    const rows = await allRows(few.app, path, { ...range, ...given });
    expect(rows.length).toBeGreaterThan(3);
    expect(rows).toEqual(await allRows(all.app, path, { ...range, ...given }));
  }
});

// A ledger whose clock is simulated begins there.
test('a change at the first snapshot of all, that of 1970-01-01, is in the list in either order', () => {
  const version = { seq: 1, totals: { unlocked: 5n, locked: 0n, contracts: 1 } };
  const versions = {
    at: (_: number, seq: number) => (seq < 1 ? null : version),
    between: () => [version],
    all: () => [],
  };
  const first = { time: 0, seq: 1 };
  const grid = { seqBefore: () => 0, seqAt: () => 1, find: () => first };
  const about = { migrationId: 0, party: 'alice::12', from: 0, to: 0, rows: 10, grid };
  const change = { recordTime: 0, before: NO_COIN, after: version.totals };
  for (const order of ['asc', 'desc'] satisfies Order[])
    expect(readChanges(versions, 1, { ...about, order })).toEqual({ before: NO_COIN, changes: [change] });
});

function isoTime(micros: number): string {
  return new Date(micros / 1000).toISOString();
}

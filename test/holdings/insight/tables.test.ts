import { expect, test } from 'vitest';
import { answerTable } from '../../../src/holdings/table-answers.ts';
import { nextQuestion, type TableQuestion } from '../../../src/holdings/table-question.ts';
import { oddLedger } from '../../support/ledger/options.ts';
import { oracle } from '../../support/ledger/oracle.ts';
import {
  changeRows,
  type FoldedSnapshot,
  folded,
  ownerRows,
  pointRows,
  rankedRows,
  snapshotRows,
} from '../../support/ledger/oracle-tables.ts';
import { randomLedger } from '../../support/ledger/random-ledger.ts';
import { memoryStore } from '../../support/views/memory-store.ts';
import { TEN_MINUTES_US } from '../../support/views/replayed.ts';

const expected = oracle(randomLedger(oddLedger(5, { updates: 200, migrations: 2 })), { periodMicros: TEN_MINUTES_US });
const store = memoryStore(expected);
const all = expected.snapshots.map((snapshot) => folded(snapshot, false));
const newest = all.at(-1)!;
const grid: readonly FoldedSnapshot[] = all.filter(({ migrationId }) => migrationId === newest.migrationId);
const PARTY = [...newest.owners.keys()][0]!;

const asked = {
  migration_id: null,
  from: null,
  to: null,
  record_time: null,
  every: null,
  order: null,
  by: null,
} as const;
const paged = { ...asked, prefix: null, party: PARTY, limit: 3, after: null };

async function rowsOf(question: TableQuestion): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (let next: TableQuestion | null = question; next !== null; ) {
    const table = await answerTable(next, store);
    rows.push(...table.rows);
    next = typeof table.next === 'string' ? nextQuestion(next, table.next) : null;
  }
  return rows;
}

test('tables are made of the facts of a store that is not SQLite too', async () => {
  expect(await rowsOf({ table: 'snapshots', query: paged })).toEqual(snapshotRows(grid).reverse());
  expect(await rowsOf({ table: 'owners', query: paged })).toEqual(ownerRows(grid, ''));
  expect(await rowsOf({ table: 'top', query: paged })).toEqual(rankedRows(newest, 'total'));
  expect(await rowsOf({ table: 'history', query: paged })).toEqual(pointRows(grid, PARTY, TEN_MINUTES_US));
  expect(await rowsOf({ table: 'changes', query: { ...paged, order: 'asc' } })).toEqual(changeRows(grid, PARTY));
});

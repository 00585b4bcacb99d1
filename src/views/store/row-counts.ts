import type { Database } from 'better-sqlite3';

/** Tables of which a row could be lost, or made up, without a gap in any numbers; the others' numbers tell it. */
export const COUNTED_TABLES = [
  'counterfeit',
  'dead_letter',
  'migration',
  'position',
  'round',
  'snapshot',
  'synchronizer',
  'template',
] as const;
export type CountedTable = (typeof COUNTED_TABLES)[number];

/** To be called where the tables are made: every one of them has a count from then on. */
export function createRowCounts(db: Database): void {
  const insert = db.prepare('INSERT INTO row_count VALUES (?, 0)');
  for (const table of COUNTED_TABLES) insert.run(table);
}

/** Returns the function that keeps how many rows a table has, as its writer knows it: one that is lost or made up is then found. */
export function prepareRowCount(db: Database, table: CountedTable): (count: number) => void {
  const save = db.prepare('INSERT OR REPLACE INTO row_count VALUES (?, ?)');
  let saved: number | null = null;
  return (count) => {
    if (count === saved) return;
    save.run(table, count);
    saved = count;
  };
}

/** The same for tables whose rows stay: the stored count grows by the rows written, so it is no count of what is there. */
export function prepareRowsAdded(db: Database, table: CountedTable): (rows: number) => void {
  const add = db.prepare('UPDATE row_count SET count = count + ? WHERE name = ?');
  return (rows) => {
    if (rows > 0) add.run(rows, table);
  };
}

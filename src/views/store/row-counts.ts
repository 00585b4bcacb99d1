import type { Database } from 'better-sqlite3';

/** Tables in which a lost or added row would leave no gap in numbers, as it does in the others. */
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

/** Called when the tables are created: from then on each of these has a count. */
export function createRowCounts(db: Database): void {
  const insert = db.prepare('INSERT INTO row_count VALUES (?, 0)');
  for (const table of COUNTED_TABLES) insert.run(table);
}

/** Returns the function that stores how many rows a table has, as the writer counts them: so a lost or added row is found. */
export function prepareRowCount(db: Database, table: CountedTable): (count: number) => void {
  const save = db.prepare('INSERT OR REPLACE INTO row_count VALUES (?, ?)');
  let saved: number | null = null;
  return (count) => {
    if (count === saved) return;
    save.run(table, count);
    saved = count;
  };
}

/** As above, for tables whose rows are never deleted: the stored count grows with each row written, independent of the table. */
export function prepareRowsAdded(db: Database, table: CountedTable): (rows: number) => void {
  const add = db.prepare('UPDATE row_count SET count = count + ? WHERE name = ?');
  return (rows) => {
    if (rows > 0) add.run(rows, table);
  };
}

import type { Database } from 'better-sqlite3';

/** Tables whose rows come and go without a number of their own. */
export const COUNTED_TABLES = ['counterfeit', 'round', 'synchronizer'] as const;
export type CountedTable = (typeof COUNTED_TABLES)[number];

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

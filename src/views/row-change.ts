import type { Database } from 'better-sqlite3';
import { isSoundRow, type Stored, withChecksum } from './row-checksum.ts';

/**
 * Returns the function that changes some columns of one row, and its checksum with them (see row-checksum.ts). A row that was
 * damaged before keeps the checksum it has: a new one would hide the damage.
 */
export function prepareRowChange(
  db: Database,
  table: string,
  { key, columns }: { key: string; columns: readonly string[] },
): (key: number, ...values: readonly Stored[]) => void {
  const read = db.prepare<[number], Stored[]>(`SELECT * FROM ${table} WHERE ${key} = ?`).raw().safeIntegers();
  const change = db.prepare(`UPDATE ${table} SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE ${key} = ?`);
  const seal = db.prepare(`UPDATE ${table} SET checksum = ? WHERE ${key} = ?`);
  return (at, ...values) => {
    const before = read.get(at);
    change.run(...values, at);
    if (before === undefined || !isSoundRow(before)) return;
    seal.run(withChecksum(read.get(at)!.slice(0, -1)).at(-1), at);
  };
}

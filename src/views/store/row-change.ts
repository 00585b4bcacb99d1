import type { Database } from 'better-sqlite3';
import { isSoundRow, type Stored, withChecksum } from './row-checksum.ts';

/**
 * Returns the function that changes some columns of one row, and its checksum with them (see row-checksum.ts). A row that is
 * already damaged keeps its checksum: a new one would hide the damage.
 */
export function prepareRowChange(
  db: Database,
  table: string,
  { key, columns }: { key: string; columns: readonly string[] },
): (key: number, ...values: readonly Stored[]) => void {
  const read = db.prepare<[number], Stored[]>(`SELECT * FROM ${table} WHERE ${key} = ?`).raw().safeIntegers();
  const names = read.columns().map(({ name }) => name);
  const places = columns.map((name) => names.indexOf(name));
  const changes = [...columns, 'checksum'].map((name) => `${name} = ?`).join(', ');
  const change = db.prepare(`UPDATE ${table} SET ${changes} WHERE ${key} = ?`);
  return (at, ...values) => {
    const before = read.get(at);
    if (before === undefined) return;
    const after = before.slice(0, -1);
    for (const [i, place] of places.entries()) after[place] = values[i]!;
    const row = isSoundRow(before) ? withChecksum(after) : before;
    change.run(...values, row.at(-1), at);
  };
}

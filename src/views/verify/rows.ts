import { isSoundRow, type Stored } from '../store/row-checksum.ts';
import { COUNTED_TABLES } from '../store/row-counts.ts';
import { timeText, type VerifyContext } from './types.ts';

/** Tables that could lose a row unnoticed have as many as their writer counted. */
export function verifyRowCounts({ db, report }: VerifyContext): void {
  const rows = db.prepare<[], { name: string; count: number }>('SELECT name, count FROM row_count').all();
  const counts = new Map(rows.map(({ name, count }) => [name, count]));
  for (const table of COUNTED_TABLES) {
    const found = db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
    const count = counts.get(table);
    if (count === undefined)
      report({ table: 'row_count', owner: null, snapshot: null, expected: `a row of ${table}`, found: 'none' });
    else if (found !== count)
      report({ table, owner: null, snapshot: null, expected: `${count} rows (row_count)`, found: String(found) });
    counts.delete(table);
  }
  for (const name of counts.keys())
    report({ table: 'row_count', owner: null, snapshot: null, expected: 'only tables that are counted', found: name });
}

/** Tables whose rows have a checksum of their other columns, with a name for a row; dead letters are verified separately. */
const NAMES: Readonly<Record<string, (row: readonly Stored[]) => string | null>> = {
  setting: () => null,
  position: ([lane]) => `lane ${lane}`,
  migration: ([migrationId]) => `migration ${migrationId}`,
  snapshot: ([migrationId, recordTime]) => `migration ${migrationId}, ${timeText(recordTime as bigint)}`,
};

export function verifyRowChecksums({ db, report }: VerifyContext): void {
  for (const [table, nameOf] of Object.entries(NAMES)) {
    const rows = db.prepare<[], Stored[]>(`SELECT * FROM ${table}`).raw().safeIntegers();
    for (const row of rows.iterate()) {
      if (isSoundRow(row)) continue;
      const found = String(row.at(-1));
      report({ table, owner: null, snapshot: nameOf(row), expected: 'a checksum of its columns', found });
    }
  }
}

import { eventsOfLines } from './decoded.ts';
import { foldFlat } from './fold.ts';
import { type Row, type Tables, tablesOf } from './rows.ts';

/** The rows of a feed, table by table. */
export function tablesOfFeed(
  lines: readonly string[],
  { dso, migrationId }: { dso: string; migrationId: number },
): Tables {
  const read = eventsOfLines(lines, { dso, migrationId });
  const all: Record<string, Row[]> = {};
  for (const [id, migration] of foldFlat([read]))
    for (const [table, rows] of Object.entries(tablesOf(id, migration))) all[table] = [...(all[table] ?? []), ...rows];
  return all;
}

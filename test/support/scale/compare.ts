import type { Client } from 'pg';
import { foldFlat, type ReadEvent } from './fold.ts';
import { closedTables, type Row, type Tables } from './rows.ts';

/** What the job writes of a topic: of the last migration without its last interval, which nothing has closed. */
export function expectedTables(partitions: readonly (readonly ReadEvent[])[]): Tables {
  const folded = foldFlat(partitions);
  const newest = Math.max(...folded.keys());
  const tables: Record<string, Row[]> = {};
  for (const [id, migration] of folded) {
    const end = id === newest ? Math.max(...migration.intervals.keys()) : Infinity;
    for (const [table, rows] of Object.entries(closedTables(id, migration, end)))
      tables[table] = [...(tables[table] ?? []), ...rows];
  }
  return tables;
}

/** The rows of each table as texts, in one order. */
export function textsOf(tables: Tables): Record<string, string[]> {
  return Object.fromEntries(Object.entries(tables).map(([table, rows]) => [table, rows.map(textOf).sort()]));
}

function textOf(row: Row): string {
  const columns = Object.entries(row).map(([name, value]) => `${name}=${value ?? 'null'}`);
  return columns.join(' ');
}

/** The same of what is stored, of the columns that are expected. */
export async function storedTexts(client: Client, expected: Tables): Promise<Record<string, string[]>> {
  const stored: Record<string, Row[]> = {};
  for (const [table, rows] of Object.entries(expected)) {
    const columns = Object.keys(rows[0]!).join(', ');
    stored[table] = (await client.query<Row>(`SELECT ${columns} FROM ${table}`)).rows;
  }
  return textsOf(stored);
}

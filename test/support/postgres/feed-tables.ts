import { decodeMessage } from '../../../src/decode/decode.ts';
import { flatten } from '../../../src/flat/flatten.ts';
import { foldFlat, type ReadEvent } from '../flat/fold.ts';
import { TEN_MINUTES_US } from '../views/replayed.ts';
import { type Row, type Tables, tablesOf } from './rows.ts';

/** The rows of a feed, table by table. */
export function tablesOfFeed(
  lines: readonly string[],
  { dso, migrationId }: { dso: string; migrationId: number },
): Tables {
  const rules = { dso, periodUs: TEN_MINUTES_US, recordTimeAheadMaxUs: 0, now: Date.now() * 1000 };
  const events = lines.flatMap((line) => flatten(decodeMessage(Buffer.from(line), { migrationId }), rules));
  const read = events.map((event) => JSON.parse(JSON.stringify(event)) as ReadEvent);
  const all: Record<string, Row[]> = {};
  for (const [id, migration] of foldFlat([read]))
    for (const [table, rows] of Object.entries(tablesOf(id, migration))) all[table] = [...(all[table] ?? []), ...rows];
  return all;
}

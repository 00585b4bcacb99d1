import type { Hono } from 'hono';
import { allRows, asTexts, type Row } from './table-pages.ts';

export type Exported = 'movements' | 'totals' | 'snapshots';

const V1 = '/holdfast/v1';
const NO_ACCOUNT = { provider: '', account_id: '' };

/** What the API answers of all owners, migrations and instruments, as texts and in any order: what an export of it must have. */
export async function exportedAnswers(app: Hono, what: Exported, migrations: readonly number[]): Promise<Row[]> {
  const found: Row[] = [];
  for (const migration_id of migrations) {
    const add = (rows: readonly Row[], about: Row = {}): void => {
      for (const row of rows) found.push({ migration_id: String(migration_id), ...about, ...asTexts(row) });
    };
    const limit = 1000;
    if (what === 'snapshots') {
      add(await allRows(app, `${V1}/snapshots`, { migration_id, limit }));
      continue;
    }
    for (const { admin, id } of await allRows(app, `${V1}/instruments`, { migration_id, limit })) {
      const given = { migration_id, instrument_admin: admin, instrument_id: id };
      const about = { instrument_admin: admin, instrument_id: id };
      if (what === 'movements') {
        add(await allRows(app, `${V1}/movements`, { ...given, limit }), { ...about, ...NO_ACCOUNT });
        continue;
      }
      for (const { party_id } of await allRows(app, `${V1}/owners`, { ...given, limit })) {
        const path = `${V1}/owners/${encodeURIComponent(String(party_id))}/changes`;
        add(await allRows(app, path, { ...given, limit }), { ...about, party_id });
      }
    }
  }
  return found;
}

/** Rows in an order of their own, with times in microseconds and without the names of columns that are empty in all. */
export function comparable(rows: readonly Row[]): string[] {
  const micros = (text: string): string =>
    text.replace(/(?:\.(\d+))?Z$/, (_, digits = '') => `.${digits.padEnd(6, '0')}Z`);
  return rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .map(([name, value]) => [
            name,
            name.endsWith('_at') || name === 'record_time' ? micros(String(value)) : value,
          ])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      ),
    )
    .sort();
}

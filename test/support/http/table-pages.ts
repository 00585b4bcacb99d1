import type { Hono } from 'hono';
import { expect } from 'vitest';
import { readCsv } from './read-csv.ts';

export type Row = Readonly<Record<string, unknown>>;

/** An answer of the area with its rows under one name. */
export interface TableAnswer {
  readonly head: Row;
  readonly rows: readonly Row[];
  readonly next: string | null;
}

const ROWS = [
  'snapshots',
  'owners',
  'points',
  'changes',
  'movements',
  'periods',
  'locks',
  'instruments',
  'unreadable',
  'found',
];

/** Asks with these parameters, of which those that are null are left out. */
export async function askTable(
  app: Hono,
  path: string,
  given: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  const query = new URLSearchParams(paramsOf(given));
  return await app.request(`${path}?${query}`);
}

export function readTable(body: string): TableAnswer {
  const { next_page_token = null, ...fields } = JSON.parse(body) as Record<string, unknown>;
  const [name] = ROWS.filter((each) => Array.isArray(fields[each]));
  const { [name!]: rows, ...head } = fields;
  return { head, rows: rows as Row[], next: next_page_token as string | null };
}

/** All rows of a question, page by page; and in CSV by the links, which must be the same rows. */
export async function allRows(
  app: Hono,
  path: string,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const texts: Row[] = [];
  let after: string | null = null;
  let target: string | null = `${path}?${new URLSearchParams({ ...paramsOf(given), format: 'csv' })}`;
  do {
    const response = await askTable(app, path, { ...given, after });
    expect(response.status, await response.clone().text()).toBe(200);
    const page = readTable(await response.text());
    const csv: Response = await app.request(target!);
    const { header, rows: read } = readCsv(await csv.text());
    const fields = Object.keys(page.rows.at(-1) ?? {}).filter((name) => name !== 'accounts');
    // Only the last row of a history may have the field `partial`.
    if (page.rows.length > 0)
      expect(header.filter((name) => name !== 'partial' || fields.includes(name))).toEqual(fields);
    rows.push(...page.rows);
    texts.push(...read);
    after = page.next;
    target = /^<(.*)>; rel="next"$/.exec(csv.headers.get('link') ?? '')?.[1] ?? null;
    expect(target === null).toBe(after === null);
    if (given.limit !== undefined && after !== null) expect(page.rows).toHaveLength(Number(given.limit));
  } while (after !== null);
  const none = 'partial' in (texts[0] ?? {}) ? { partial: '' } : {};
  expect(texts).toEqual(rows.map((row) => ({ ...none, ...asTexts(row) })));
  return rows;
}

function paramsOf(given: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
}

/** A row as CSV tells it. */
export function asTexts(row: Row): Readonly<Record<string, string>> {
  const text = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  // Accounts are not in CSV; of an unreadable holding it has the stakeholders with | between.
  const { accounts, stakeholders, ...fields } = row;
  const texts = Object.entries(fields).map(([name, value]) => [name, value === null ? '' : text(value)]);
  const joined = Array.isArray(stakeholders) ? { stakeholders: stakeholders.join('|') } : {};
  return { ...Object.fromEntries(texts), ...joined };
}

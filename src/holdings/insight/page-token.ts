import { parseInt64 } from '../../json/int64.ts';
import { jsonOrNull } from '../../json/untrusted.ts';
import { formatTime, parseRequestTime } from '../../ledger/time.ts';
import { type Given, type ParameterName, parameter } from './parameters.ts';
import { type Paged, type PageStart, TABLES, type TableName, type TableQuestion } from './question.ts';

/** The content of a page token: the question that it continues, as it was sent, and where. */
export interface PageToken {
  readonly start: PageStart;
  /** The parameters that were given, by name. */
  readonly given: ReadonlyMap<ParameterName, unknown>;
}

/** The rows of a page, from facts with one more where there is another page; and that page's token, null at the end. */
export function pageOf<Fact>(
  found: readonly Fact[],
  {
    table,
    query,
    migrationId,
    snapshot,
  }: { table: TableName; query: Paged & Partial<Given<ParameterName>>; migrationId: number; snapshot: number },
  nameOf: (fact: Fact, place: number) => string,
): { readonly rows: readonly Fact[]; readonly next: string | null } {
  const { limit } = query;
  if (found.length <= limit) return { rows: found, next: null };
  const last = nameOf(found[limit - 1]!, limit - 1);
  const start = { migrationId: BigInt(migrationId), snapshot: BigInt(snapshot), last };
  return { rows: found.slice(0, limit), next: encodePageToken(table, query, start) };
}

/**
 * A token has all that the next page depends on, so that it stays valid forever, also in another process. It is no secret and
 * protects nothing: its content is validated like a request.
 */
function encodePageToken(
  table: TableName,
  query: Partial<Given<ParameterName>>,
  { migrationId, snapshot, last }: PageStart,
): string {
  const given = TABLES[table].parameters.flatMap((name) => {
    const value = query[name] ?? null;
    return value === null ? [] : [[name, parameter(name).print(value)]];
  });
  return encodeToken([table, given, String(migrationId), formatTime(snapshot), last]);
}

/** Null for an invalid token, or one of another table. */
export function decodePageToken(table: TableName, text: string): PageToken | null {
  const token = decodeToken(text);
  if (token.length !== 5 || token[0] !== table) return null;
  const [, pairs, migration, time, last] = token;
  const migrationId = typeof migration === 'string' ? parseInt64(migration) : null;
  const snapshot = typeof time === 'string' ? parseRequestTime(time) : null;
  const given = givenOf(table, pairs);
  if (migrationId === null || snapshot === null || given === null || typeof last !== 'string') return null;
  return { start: { migrationId, snapshot, last }, given };
}

/** The question of the page after the one that had this token. */
export function nextQuestion(question: TableQuestion, token: string): TableQuestion {
  const { start } = decodePageToken(question.table, token)!;
  return { ...question, query: { ...question.query, after: start } } as TableQuestion;
}

/** An opaque text of a list of JSON values. */
export function encodeToken(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** The values of such a text; none where it is another text. */
export function decodeToken(text: string): readonly unknown[] {
  const bytes = Buffer.from(text, 'base64url');
  const values = bytes.toString('base64url') === text ? jsonOrNull(bytes.toString()) : null;
  return Array.isArray(values) ? values : [];
}

function givenOf(table: TableName, pairs: unknown): Map<ParameterName, unknown> | null {
  if (!Array.isArray(pairs)) return null;
  const given = new Map<ParameterName, unknown>();
  for (const pair of pairs as readonly unknown[]) {
    const [name, text] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    const known = TABLES[table].parameters.find((each) => each === name);
    const value = known === undefined || typeof text !== 'string' ? null : parameter(known).parse(text);
    if (known === undefined || value === null) return null;
    given.set(known, value);
  }
  return given;
}

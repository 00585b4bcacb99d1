import { parseAccept } from 'hono/utils/accept';
import { decodePageToken } from '../../holdings/insight/page-token.ts';
import { type ParameterName, parameter } from '../../holdings/insight/parameters.ts';
import {
  LIMIT_DEFAULT,
  LIMIT_MAX,
  type PageStart,
  TABLES,
  type TableName,
  type TableQuestion,
} from '../../holdings/insight/question.ts';
import { wrongValue } from '../server/http-fault.ts';

/** A request of this area. */
export interface TableRequest {
  readonly question: TableQuestion;
  readonly form: 'json' | 'csv';
  /** Whether one answer has the rows of all pages. */
  readonly all: boolean;
}

type Values = Map<ParameterName, unknown>;

const PAGE_PARAMETERS = ['limit', 'after'];
const LIMIT_EXPECTED = `an integer from 1 to ${LIMIT_MAX}`;

/** Reads a request strictly, because no existing client depends on less. Throws a 400 that names the parameter. */
export function readTableRequest(
  table: TableName,
  { party, query, accept }: { party: string | undefined; query: URLSearchParams; accept: string | undefined },
): TableRequest {
  const texts = textsOf(table, query);
  if (party !== undefined) texts.set('party', party);
  const given: Values = new Map();
  for (const name of TABLES[table].parameters) {
    const text = texts.get(name);
    if (text !== undefined) given.set(name, parsedValue(name, text));
  }
  const form = formOf(texts.get('format'), accept);
  const limit = limitOf(texts.get('limit'), form);
  const after = continued(table, texts.get('after'), given);
  const parameters = Object.fromEntries(TABLES[table].parameters.map((name) => [name, given.get(name) ?? null]));
  const question = { table, query: { ...parameters, limit: limit === 'all' ? LIMIT_MAX : limit, after } };
  return { question: question as unknown as TableQuestion, form, all: limit === 'all' };
}

/** The given parameters by name, each once, and only those of the table. */
function textsOf(table: TableName, query: URLSearchParams): Map<string, string> {
  const { parameters, paged } = TABLES[table];
  const known = [...parameters.filter((name) => name !== 'party'), ...(paged ? PAGE_PARAMETERS : []), 'format'];
  const texts = new Map<string, string>();
  for (const [name, text] of query) {
    if (!known.includes(name)) throw wrongValue(name, text, `no such parameter, only ${known.join(', ')}`);
    if (texts.has(name)) throw wrongValue(name, text, 'it once, and it is given twice');
    texts.set(name, text);
  }
  return texts;
}

function parsedValue(name: ParameterName, text: string): unknown {
  const { parse, expected } = parameter(name);
  const value = parse(text);
  if (value === null)
    throw wrongValue(name, text, text.includes(' ') ? `${expected} (in a query a "+" is written %2B)` : expected);
  return value;
}

function formOf(format: string | undefined, accept: string | undefined): 'json' | 'csv' {
  if (format === undefined) return prefersCsv(accept ?? '') ? 'csv' : 'json';
  if (format !== 'json' && format !== 'csv') throw wrongValue('format', format, 'json or csv');
  return format;
}

/** Whether an Accept header names CSV and prefers it to JSON. */
function prefersCsv(accept: string): boolean {
  const weights = new Map(parseAccept(accept).map(({ type, q }) => [type.toLowerCase(), q]));
  return (weights.get('text/csv') ?? 0) > (weights.get('application/json') ?? 0);
}

function limitOf(text: string | undefined, form: 'json' | 'csv'): number | 'all' {
  if (text === undefined) return LIMIT_DEFAULT;
  if (text === 'all' && form === 'csv') return 'all';
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw wrongValue('limit', text, `${LIMIT_EXPECTED}, or "all" in CSV`);
  return limit;
}

/** Where the page begins. The token's parameters apply again, and no others may be given. */
function continued(table: TableName, text: string | undefined, given: Values): PageStart | null {
  if (text === undefined) return null;
  const token = decodePageToken(table, text);
  if (token === null) throw wrongValue('after', text, 'a next_page_token of this operation');
  const { start } = token;
  // Given or not, the page before had these.
  const used: Values = new Map<ParameterName, unknown>([
    ['migration_id', start.migrationId],
    ['record_time', start.snapshot],
  ]);
  for (const [name, value] of given) {
    const { print, initial } = parameter(name);
    const before = [token.given.get(name), used.get(name)].flatMap((each) => (each === undefined ? [] : [print(each)]));
    if (initial !== undefined && before.length === 0) before.push(initial);
    if (before.includes(print(value))) continue;
    throw wrongValue(
      name,
      print(value),
      `${before[0] ?? 'nothing'}, as for the page before, whose token is in "after"`,
    );
  }
  for (const [name, value] of token.given) if (!given.has(name)) given.set(name, value);
  return start;
}

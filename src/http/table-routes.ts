import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import type { Logger } from 'pino';
import {
  type BalancesQuery,
  decodePageToken,
  IN_PATH,
  INSTRUMENT,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  nextQuestion,
  type PageStart,
  type ParameterName,
  parameter,
  TABLES,
  type TableName,
  type TableQuestion,
} from '../holdings/table-question.ts';
import type { TableForm, TableText } from '../holdings/table-rows.ts';
import type { HoldingsDeps } from './holdings-operations.ts';
import { type ServedLimits, validated } from './json-operation.ts';
import { readJsonBody } from './json-request.ts';
import { type Cors, type Route, throwAsHttpFault, wrongValue } from './routing.ts';
import { columnsOf, type TableOperation } from './table-operation.ts';
import { balances, TABLE_OPERATIONS } from './table-operations.ts';

export interface TableDeps extends Pick<HoldingsDeps, 'answers' | 'holdAnswer' | 'limits'> {
  readonly logger: Logger;
}

/** The routes of the area, at the root only. */
export function tableRoutes(deps: TableDeps, cors: Cors): readonly Route[] {
  return [...TABLE_OPERATIONS, balances].map((operation) => tableRoute(operation, deps, cors));
}

function tableRoute(operation: TableOperation, deps: TableDeps, cors: Cors): Route {
  const { method, path, table } = operation;
  const { answers, holdAnswer, limits, logger } = deps;
  const columns = columnsOf(operation);
  const handle = async (c: Context): Promise<Response> => {
    const url = new URL(c.req.url);
    const { question, form, all } = await readTableRequest(operation, c, { query: queryOf(c.req.url), limits });
    const ask = (question: TableQuestion, as: TableForm): Promise<TableText> =>
      answers.table(question, as, () => c.req.raw.signal).catch(throwAsHttpFault);
    const answer = await ask(question, form === 'json' ? form : { columns, header: true });
    const shared = cors.headers(c);
    const headers: Readonly<Record<string, string>> = {
      ...shared,
      Vary: shared.Vary === undefined ? 'Accept' : `Accept, ${shared.Vary}`,
      ...(method === 'GET' ? cacheHeaders(answer, { url, all }) : UNCACHED),
    };
    if (isKnown(headers.ETag, c.req.header('if-none-match'))) return new Response(null, { status: 304, headers });
    holdAnswer(c, answer.text);
    const following = ({ next }: TableText) =>
      next === null
        ? null
        : ask(nextQuestion(question, next), form === 'json' ? 'json rows' : { columns, header: false });
    const body = all ? inParts(answer, following, { answer: table, logger }) : answer.text;
    return new Response(body, { headers: { ...headers, ...bodyHeaders(answer, form) } });
  };
  return { method, path, cors, handle };
}

type Values = Map<ParameterName, unknown>;

const PAGE_PARAMETERS = ['limit', 'after'];
const LIMIT_EXPECTED = `an integer from 1 to ${LIMIT_MAX}`;

/** Reads a request strictly. Throws a 400 that names the parameter. `all`: one answer has the rows of all pages. */
async function readTableRequest(
  { table, request }: TableOperation,
  c: Context,
  { query, limits }: { readonly query: URLSearchParams; readonly limits: ServedLimits },
): Promise<{ readonly question: TableQuestion; readonly form: 'json' | 'csv'; readonly all: boolean }> {
  const accept = c.req.header('accept');
  if (table === 'balances') {
    const form = formOf(textsOf(['format'], query).get('format'), accept);
    const given = validated(request!.fields, await readJsonBody(c, limits.bodyBytesMax));
    return { question: { table, query: { ...(given as unknown as BalancesQuery), after: null } }, form, all: true };
  }
  const { parameters: names, paged } = TABLES[table];
  const known = [...names.filter((name) => !IN_PATH.includes(name)), ...(paged ? PAGE_PARAMETERS : []), 'format'];
  const texts = textsOf(known, query);
  for (const name of IN_PATH) {
    const text = c.req.param(name);
    if (text !== undefined) texts.set(name, text);
  }
  const given: Values = new Map();
  for (const name of names) {
    const text = texts.get(name);
    if (text !== undefined) given.set(name, parsedValue(table, name, text));
  }
  const form = formOf(texts.get('format'), accept);
  const limit = limitOf(texts.get('limit'), form);
  const after = continued(table, texts.get('after'), given);
  const parameters = Object.fromEntries(names.map((name) => [name, given.get(name) ?? null]));
  const question = { table, query: { ...parameters, limit: limit === 'all' ? LIMIT_MAX : limit, after } };
  return { question: question as unknown as TableQuestion, form, all: limit === 'all' };
}

/** The parameters of an address. Throws a 400 for the name of an instrument that is not UTF-8, which would be read as another. */
export function queryOf(address: string): URLSearchParams {
  const { search, searchParams } = new URL(address);
  for (const pair of search.slice(1).split('&')) {
    const [[name, text] = []] = new URLSearchParams(pair);
    if (!INSTRUMENT.some((each) => each === name)) continue;
    try {
      decodeURIComponent(pair);
    } catch {
      throw wrongValue(name!, text, 'UTF-8, percent-encoded');
    }
  }
  return searchParams;
}

/** The given parameters by name, each once but for one, and only known ones. */
export function textsOf(known: readonly string[], query: URLSearchParams, repeatable = 'kind'): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, text] of query) {
    if (!known.includes(name)) throw wrongValue(name, text, `no such parameter, only ${known.join(', ')}`);
    const before = texts.get(name);
    if (before !== undefined && name !== repeatable) throw wrongValue(name, text, 'it once, and it is given twice');
    texts.set(name, before === undefined ? text : `${before},${text}`);
  }
  return texts;
}

function parsedValue(table: TableName, name: ParameterName, text: string): unknown {
  const { parse, expected } = parameter(name, table);
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
  const isOfCoin = given.has('instrument_id') && !token.given.has('instrument_id');
  const start = { ...token.start, isOfCoin };
  // Given or not, the page before had these.
  const used: Values = new Map<ParameterName, unknown>([
    ['migration_id', start.migrationId],
    ['record_time', start.snapshot],
  ]);
  for (const [name, value] of given) {
    if (isOfCoin && INSTRUMENT.some((each) => each === name)) continue;
    const { print, initial } = parameter(name, table);
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

/** A year, the longest that caches keep anything: the answer never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const TYPES = { json: 'application/json', csv: 'text/csv; charset=utf-8' } as const;

const UNCACHED = { 'Cache-Control': 'no-store', 'Access-Control-Expose-Headers': 'Content-Disposition' };

/** Headers of an answer that clients may keep, whether it is sent or already cached. */
function cacheHeaders(answer: TableText, { url, all }: { readonly url: URL; readonly all: boolean }) {
  const { fixed, next } = answer;
  return {
    'Cache-Control': fixed ? FOR_EVER : 'no-cache',
    ETag: `"${all ? tagOfAll(answer) : answer.digest}"`,
    'Access-Control-Expose-Headers': 'Link, ETag, Content-Disposition',
    ...(next === null || all ? {} : { Link: `<${nextTarget(url, next)}>; rel="next"` }),
  };
}

function bodyHeaders({ fileName }: TableText, form: 'json' | 'csv'): Readonly<Record<string, string>> {
  if (form === 'json') return { 'Content-Type': TYPES.json };
  return { 'Content-Type': TYPES.csv, 'Content-Disposition': `attachment; filename="${fileName}.csv"` };
}

/** The first page, and what the later ones follow from: the token of the next, and the digest of the snapshot they are made of. */
function tagOfAll({ digest, next, snapshotDigest }: TableText): string {
  return createHash('sha256').update(`all ${digest} ${next} ${snapshotDigest}`).digest('base64url');
}

function nextTarget(url: URL, token: string): string {
  const query = new URLSearchParams(url.searchParams);
  query.set('after', token);
  return `${url.pathname}?${query}`;
}

/** Whether the client has cached that representation (If-None-Match). */
function isKnown(tag: string | undefined, header: string | undefined): boolean {
  if (tag === undefined || header === undefined) return false;
  return header.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')));
}

/** The texts of an answer in parts, each read when the client has the one before: only one is in memory for a slow client. */
function inParts(
  first: TableText,
  following: (part: TableText) => Promise<TableText> | null,
  { answer, logger }: { readonly answer: string; readonly logger: Logger },
): ReadableStream<Uint8Array> | string {
  if (first.next === null) return first.text;
  const encoder = new TextEncoder();
  async function* texts(): AsyncGenerator<Uint8Array> {
    for (let part: TableText | null = first; part !== null; part = (await following(part)?.catch(broken)) ?? null)
      yield encoder.encode(part.text);
  }
  /** The head was already sent: an aborted body is all that can still show the failure. */
  function broken(error: unknown): never {
    logger.warn({ err: error, answer }, 'an answer in parts was broken off');
    throw error;
  }
  return ReadableStream.from(texts());
}

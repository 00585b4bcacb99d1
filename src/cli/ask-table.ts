import { z } from 'zod';
import type { HoldingsStore } from '../holdings/facts.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { answerTable } from '../holdings/table-answers.ts';
import {
  type Given,
  LIMIT_MAX,
  nextQuestion,
  PARAMETERS,
  type ParameterName,
  parameter,
  TABLES,
  type TableName,
  type TableQuestion,
} from '../holdings/table-question.ts';
import type { Row, Table } from '../holdings/table-rows.ts';
import type { TableOperation } from '../http/table-operation.ts';
import { TABLE_OPERATIONS } from '../http/table-operations.ts';
import { isObject } from '../json/untrusted.ts';
import { Refusal } from '../refusal.ts';
import { askHoldfast } from '../service/compare-digests.ts';
import { showGiven } from '../show-given.ts';
import { createRankings } from '../views/read/server-answers.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { addressOf, apiKeyOf, type Invocation, parseOption } from './command.ts';

export type NamedQuestion = TableQuestion & { readonly table: TableName };

/** Asks for a table: of the data directory, or of the service that `--url` names. */
export type AskTable = (question: NamedQuestion) => Ask;

export interface RunningService {
  readonly base: URL;
  readonly stop: AbortSignal;
  readonly key: string | null;
}

/** What `--url` names; null where the data directory is read. */
export function serviceOf({ options, terminal }: Invocation): RunningService | null {
  if (options.url === undefined) return null;
  return { base: addressOf('--url', options.url as string), stop: terminal.stopSignal(), key: apiKeyOf(terminal) };
}

/** Where tables are asked for; a store is opened for the first question, and closed with `opened`. */
export function tablesOf(invocation: Invocation, opened: DisposableStack): AskTable {
  const service = serviceOf(invocation);
  if (service !== null) return (question) => askService(question, service);
  let store: HoldingsStore | undefined;
  return (question) => {
    store ??= opened.use(openViewsStore(invocation.config.dataDir));
    return askStore(question, store);
  };
}

export function operationOf(table: TableName): TableOperation {
  return TABLE_OPERATIONS.find((each) => each.table === table)!;
}

/** An address of an operation, below that of the service. */
export function addressBelow(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/*$/, path);
  return url;
}

/** The body of an answer, as a directory would give it: a question that has none throws what that would throw. */
export async function answerOf(url: URL, { stop, key }: RunningService, body?: object): Promise<unknown> {
  const soon = AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS_MAX)]);
  const { status, answer } = await askHoldfast(url, { stop: soon, key }, body);
  const said = isObject(answer) && typeof answer.error === 'string' ? answer.error : null;
  if (status === 400 && said !== null) throw new Refusal(said);
  // A time or a migration that it does not have, as of a directory.
  if (status === 404 && said !== null) throw new HoldingsFault('no_such_time', said);
  // A store in PostgreSQL has fewer tables.
  if (status === 501 && said !== null) throw new HoldingsFault('not_kept', said);
  if (status === 200) return answer;
  const words = said === null ? '' : ` (${showGiven(said)})`;
  throw new Error(`${url}: answers ${status}${words}, expected a Holdfast of this version`);
}

const PARTIES = z.array(z.object({ party_id: z.string() }));

/** On a terminal, the party whose id alone begins so; the text as it is where no owner's does. Throws a Refusal where several do. */
export async function wholeParty(
  text: string,
  { ask, terminal, options }: { ask: AskTable } & Pick<Invocation, 'terminal' | 'options'>,
): Promise<string> {
  if (terminal.stdout.isTTY !== true) return text;
  const migration = parseOption(options, 'migration', PARAMETERS.migration_id);
  return (await partyBeginning(text, { ask, migration, name: '--owner' })) ?? text;
}

/** The party whose id alone begins so; null where no owner's does. Throws a Refusal where several do. */
export async function partyBeginning(
  text: string,
  { ask, migration, name }: { readonly ask: AskTable; readonly migration: bigint | null; readonly name: string },
): Promise<string | null> {
  const coin = { instrument_admin: null, instrument_id: null } as const;
  const query = { ...coin, migration_id: migration, record_time: null, prefix: text, limit: 2, after: null } as const;
  const found = await ask({ table: 'owners', query })(2, null).catch((error: unknown) => {
    if (error instanceof HoldingsFault) return { rows: [] };
    throw error;
  });
  const parties = PARTIES.parse(found.rows).map(({ party_id }) => party_id);
  const [first = null, second] = parties;
  if (first === text || second === undefined) return first;
  throw new Refusal(
    `${name}: given ${showGiven(text)}, which begins ${first} and ${second} at least, expected more of it`,
  );
}

/** Answers with the page of so many rows behind a token, or with the first page. */
export type Ask = (limit: number, after: string | null) => Promise<Table>;

export function askStore(question: TableQuestion, store: HoldingsStore): Ask {
  const ranked = createRankings().over(store, (place) => store.facts({ kind: 'ranking', ...place }));
  return (limit, after) => {
    const { table, query } = after === null ? question : nextQuestion(question, after);
    return answerTable({ table, query: { ...query, limit } } as TableQuestion, ranked);
  };
}

const ANSWER_MS_MAX = 30_000;
/** Of these, one answer is some hundred kilobytes. */
const SERVICE_ROWS_MAX = 500;

/** Asks a running service of this version, by the operation of the table. */
export function askService({ table, query }: NamedQuestion, service: RunningService): Ask {
  const { path, answer: schema } = operationOf(table);
  const { parameters, paged } = TABLES[table];
  const given = query as Partial<Given<ParameterName>>;
  const url = addressBelow(service.base, path.replace('{party}', encodeURIComponent(given.party ?? '')));
  for (const name of parameters)
    if (name !== 'party' && given[name] !== null) url.searchParams.set(name, parameter(name, table).print(given[name]));
  return async (limit, after) => {
    if (paged) url.searchParams.set('limit', String(Math.min(limit, SERVICE_ROWS_MAX)));
    if (after !== null) url.searchParams.set('after', after);
    const answer = await answerOf(url, service);
    if (!schema.safeParse(answer).success) throw new Error(`${url}: expected the answer of a Holdfast of this version`);
    const [rowsName] = Object.entries(answer as Row).find(([, field]) => Array.isArray(field)) ?? [null];
    if (rowsName === null) return { head: {}, rowsName, rows: [answer as Row], fixed: false, about: [] };
    const { [rowsName]: rows, next_page_token: next, ...head } = answer as Row;
    const hasAccounts = (rows as readonly Row[]).some((row) => 'account_id' in row);
    const csvWithout = ['accounts', ...(hasAccounts ? [] : ['provider', 'account_id'])];
    const page = paged && { next: next as string | null };
    return { head, rowsName, rows: rows as readonly Row[], csvWithout, ...page, fixed: false, about: [] };
  };
}

export async function* pagesOf(rowsMax: number, ask: Ask): AsyncGenerator<Table> {
  let left = rowsMax;
  for (let after: string | null = null, isLast = false; !isLast; ) {
    const page: Table = await ask(Math.min(left, LIMIT_MAX), after);
    yield page;
    left -= page.rows.length;
    after = page.next ?? null;
    isLast = after === null || left <= 0;
  }
}

export async function joined(pages: AsyncIterable<Table>): Promise<Table> {
  const all: Table[] = [];
  for await (const page of pages) all.push(page);
  return { ...all.at(-1)!, rows: all.flatMap(({ rows }) => rows) };
}

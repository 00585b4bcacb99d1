import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HoldingsStore } from '../holdings/facts.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { nextEnd } from '../holdings/statement.ts';
import { answerTable } from '../holdings/table-answers.ts';
import {
  type Given,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  nextQuestion,
  type ParameterName,
  parameter,
  TABLES,
  type TableName,
  type TableQuestion,
} from '../holdings/table-question.ts';
import {
  csvText,
  LISTED_COLUMNS,
  listedRow,
  type Row,
  type Table,
  tableBody,
  withoutColumns,
} from '../holdings/table-rows.ts';
import { columnsOf, type TableOperation } from '../http/table-operation.ts';
import { TABLE_OPERATIONS } from '../http/table-operations.ts';
import { isObject } from '../json/untrusted.ts';
import { parseRequestTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { askHoldfast } from '../service/compare-digests.ts';
import { showGiven } from '../show-given.ts';
import { createRankings } from '../views/read/server-answers.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { addressOf, type CliCommand, formOf, type Invocation, parseOption } from './command.ts';
import { tableForPeople } from './table-for-people.ts';
import { rowsForPeople, safeJson } from './terminal.ts';

/** The options that are parameters of a table: with the name of a value, and what the help says. */
const OPTIONS: Readonly<Partial<Record<ParameterName, readonly [option: string, value: string, help: string]>>> = {
  party: ['owner', 'PARTY', 'party id of the owner'],
  migration_id: ['migration', 'N', 'migration (default: the newest with a snapshot or update)'],
  record_time: ['at', 'TIME', 'the snapshot at or before this time, RFC 3339 (default: the newest)'],
  from: ['from', 'TIME', 'from this time on, RFC 3339 (default: the beginning)'],
  to: ['to', 'TIME', 'up to this time (default: the end)'],
  every: ['every', 'D', 'time between two points, such as 1h or 1d (default: one that gives at most 1000 points)'],
  by: ['by', 'AMOUNT', 'order by this amount: total, unlocked or locked (default: total)'],
  prefix: ['prefix', 'TEXT', 'only owners whose party id begins so'],
  kind: ['kind', 'KIND...', 'only movements of these kinds: in, out, lock, unlock'],
  instrument_admin: ['instrument-admin', 'PARTY', 'admin of a token, with --instrument-id (default: the coin)'],
  instrument_id: ['instrument-id', 'ID', 'id of a token, with --instrument-admin'],
  order: ['order', 'ORDER', 'newest first (desc) or oldest first (asc) (default: desc)'],
};
const PERIOD_OPTION = [
  'every',
  'D',
  'length of a period: 1h, 1d, 1w, 1mo, all or another duration (default: 1d)',
] as const;

export const historyCommand = tableCommand('history', {
  summary: "Print an owner's totals over time, from the data directory",
  examples: [
    'holdfast history --owner alice::1220ab',
    'holdfast history --owner alice::1220ab --from 2025-02-01T00:00:00Z --every 1d --csv',
  ],
});

export const topCommand = tableCommand('top', {
  summary: 'Print the largest owners at a snapshot, from the data directory',
  examples: ['holdfast top --limit 10', 'holdfast top --at 2025-02-14T15:00:00Z --by locked --json'],
});

export const ownersCommand = tableCommand('owners', {
  summary: 'Print every owner with the totals at a snapshot, from the data directory',
  examples: ['holdfast owners --prefix alice', 'holdfast owners --at 2025-02-14T15:00:00Z --csv'],
});

export const movementsCommand = tableCommand('movements', {
  summary: 'Print what each update changed of an owner, from the data directory or a running service',
  examples: [
    'holdfast movements --owner alice::1220ab --kind in --limit 20',
    'holdfast movements --owner alice::1220ab --from 2026-10-01T00:00:00Z --order asc --csv',
    'holdfast movements --owner alice::1220ab --url http://127.0.0.1:8080',
  ],
  mayAskService: true,
});

export const statementCommand = tableCommand('statement', {
  summary:
    'Print opening, received, sent and closing of an owner for each period, from the data directory or a service',
  examples: [
    'holdfast statement --owner alice::1220ab --month 2026-10',
    'holdfast statement --owner alice::1220ab --every 1mo --csv',
  ],
  mayAskService: true,
});

export const locksCommand = tableCommand('locks', {
  summary: 'Print the locked coins of an owner in the order in which they unlock, from the data directory or a service',
  examples: [
    'holdfast locks --owner alice::1220ab',
    'holdfast locks --owner alice::1220ab --at 2026-10-01T00:00:00Z --json',
  ],
  mayAskService: true,
});

export const instrumentsCommand = tableCommand('instruments', {
  summary: 'List the coin and the tokens with their totals, or those of an owner, from the data directory or a service',
  examples: ['holdfast instruments', 'holdfast instruments --owner alice::1220ab --at 2026-10-01T00:00:00Z --csv'],
  mayAskService: true,
  ofOwner: 'owner instruments',
});

export const snapshotsCommand: CliCommand = {
  usage: 'snapshots',
  summary: 'List the sealed snapshots, from the data directory',
  examples: ['holdfast snapshots', 'holdfast snapshots --data ./data --json', 'holdfast snapshots --csv'],
  addOptions: (command) => command.option('--json', 'print JSON for programs').option('--csv', 'print CSV'),
  run: async ({ options, config, terminal }) => {
    const form = formOf(options);
    using store = openViewsStore(config.dataDir);
    const rows = (await store.facts({ kind: 'snapshots' })).map(listedRow);
    if (form === 'json') terminal.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    else if (form === 'csv') terminal.stdout.write(csvText(rows, { columns: LISTED_COLUMNS, header: true }));
    else {
      terminal.stdout.write(rowsForPeople(LISTED_COLUMNS, rows, { parts: /_id$/g }));
    }
  },
};

/** A command that prints what an operation of /holdfast/v1 answers: of the data directory, or of a service. */
function tableCommand(
  name: TableName,
  {
    summary,
    examples,
    mayAskService = false,
    ofOwner,
  }: {
    readonly summary: string;
    readonly examples: readonly string[];
    readonly mayAskService?: boolean;
    /** The table where --owner is given, which is an option then. */
    readonly ofOwner?: TableName;
  },
): CliCommand {
  const { parameters: named, paged } = TABLES[ofOwner ?? name];
  const isStatement = name === 'statement';
  return {
    usage: name,
    summary,
    examples,
    addOptions(command) {
      for (const name of named) {
        const [option, value, help] = isStatement && name === 'every' ? PERIOD_OPTION : OPTIONS[name]!;
        if (name === 'party' && ofOwner === undefined) command.requiredOption(`--${option} <${value}>`, help);
        else command.option(`--${option} <${value}>`, help);
      }
      if (isStatement) command.option('--month <MONTH>', 'a calendar month in UTC, such as 2026-10, by day');
      if (paged) command.option('--limit <N>', `number of rows (default: ${LIMIT_DEFAULT}; all of them with --csv)`);
      if (mayAskService) command.option('--url <URL>', 'ask a running service, instead of --data');
      return command.option('--json', 'print JSON for programs, as over HTTP').option('--csv', 'print CSV');
    },
    run: async ({ options, config, terminal: { stdout, stderr, stopSignal } }) => {
      const form = formOf(options);
      const rowsMax = limitOf(options);
      const table = ofOwner !== undefined && options.owner !== undefined ? ofOwner : name;
      const operation = TABLE_OPERATIONS.find((each) => each.table === table)!;
      const columns = columnsOf(operation);
      const parameters: readonly ParameterName[] = TABLES[table].parameters;
      const given = parameters.map((name) => [name, parseOption(options, OPTIONS[name]![0], parameter(name, table))]);
      const query = { ...Object.fromEntries(given), ...monthOf(options), limit: 0, after: null };
      const question = { table, query } as unknown as TableQuestion & { readonly table: TableName };
      using opened = new DisposableStack();
      const ask =
        options.url === undefined
          ? askStore(question, opened.use(openViewsStore(config.dataDir)))
          : askService(question, operation, addressOf('--url', options.url as string), stopSignal());
      const pages = pagesOf(rowsMax, ask);
      if (form === 'csv') return await print(csvOf(pages, columns), stdout);
      const found = await joined(pages);
      if (form === 'json') stdout.write(safeJson(tableBody(found)));
      else
        stdout.write(tableForPeople(table, { ...found, columns }, stdout.isTTY === true ? stdout.columns : undefined));
      if (form === 'people' && typeof found.next === 'string')
        stderr.write('holdfast: there are more rows; --limit asks for as many, --csv prints all\n');
    },
  };
}

/** As many rows as are wanted. JSON is the body of one request. */
function limitOf({ limit, json, csv }: Invocation['options']): number {
  if (limit === undefined) return csv === true ? Infinity : LIMIT_DEFAULT;
  const rows = typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? Number(limit) : 0;
  const most = json === true ? LIMIT_MAX : Infinity;
  if (rows >= 1 && rows <= most) return rows;
  const expected = json === true ? `an integer from 1 to ${LIMIT_MAX} with --json` : 'an integer from 1';
  throw new Refusal(`--limit: given ${showGiven(limit)}, expected ${expected}`);
}

/** The range of a statement that is named by its month. */
function monthOf({ month, from, to }: Invocation['options']): Partial<Given<'from' | 'to'>> {
  if (month === undefined) return {};
  if (from !== undefined || to !== undefined)
    throw new Refusal('--month: given with --from or --to, expected the month alone');
  const first = parseRequestTime(`${month}-01T00:00:00Z`);
  // The next one has no time.
  if (first === null || month === '9999-12')
    throw new Refusal(`--month: given ${showGiven(month)}, expected a month such as 2026-10`);
  return { from: first, to: BigInt(nextEnd(Number(first), '1mo')) };
}

/** Answers with the page of so many rows behind a token, or with the first page. */
type Ask = (limit: number, after: string | null) => Promise<Table>;

function askStore(question: TableQuestion, store: HoldingsStore): Ask {
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
function askService(
  { table, query }: TableQuestion & { readonly table: TableName },
  { path, answer: schema }: TableOperation,
  base: URL,
  stop: AbortSignal,
): Ask {
  const { parameters, paged } = TABLES[table];
  const given = query as Partial<Given<ParameterName>>;
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/*$/, path.replace('{party}', encodeURIComponent(given.party ?? '')));
  for (const name of parameters)
    if (name !== 'party' && given[name] !== null) url.searchParams.set(name, parameter(name, table).print(given[name]));
  return async (limit, after) => {
    if (paged) url.searchParams.set('limit', String(Math.min(limit, SERVICE_ROWS_MAX)));
    if (after !== null) url.searchParams.set('after', after);
    const { status, answer } = await askHoldfast(url, AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS_MAX)]));
    const said = isObject(answer) && typeof answer.error === 'string' ? answer.error : null;
    if (status === 400 && said !== null) throw new Refusal(said);
    // A time or a migration that it does not have, as of a directory.
    if (status === 404 && said !== null) throw new HoldingsFault('no_such_time', said);
    if (!schema.safeParse(answer).success)
      throw new Error(
        `${url}: answers ${status}${said === null ? '' : ` (${showGiven(said)})`}, expected a Holdfast of this version`,
      );
    const [rowsName] = Object.entries(answer as Row).find(([, field]) => Array.isArray(field))!;
    const { [rowsName]: rows, next_page_token: next, ...head } = answer as Row;
    return {
      head,
      rowsName,
      rows: rows as readonly Row[],
      csvWithout: [
        'accounts',
        ...((rows as readonly Row[]).some((row) => 'account_id' in row) ? [] : ['provider', 'account_id']),
      ],
      ...(paged && { next: next as string | null }),
      fixed: false,
      about: [],
    };
  };
}

async function* pagesOf(rowsMax: number, ask: Ask): AsyncGenerator<Table> {
  let left = rowsMax;
  for (let after: string | null = null, isLast = false; !isLast; ) {
    const page: Table = await ask(Math.min(left, LIMIT_MAX), after);
    yield page;
    left -= page.rows.length;
    after = page.next ?? null;
    isLast = after === null || left <= 0;
  }
}

async function joined(pages: AsyncIterable<Table>): Promise<Table> {
  const all: Table[] = [];
  for await (const page of pages) all.push(page);
  return { ...all.at(-1)!, rows: all.flatMap(({ rows }) => rows) };
}

/** As its reader takes it, who may go away before the end. */
async function print(texts: AsyncIterable<string>, stdout: Writable): Promise<undefined> {
  await pipeline(texts, stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !stdout.destroyed) throw error;
  });
}

async function* csvOf(pages: AsyncIterable<Table>, columns: readonly string[]): AsyncGenerator<string> {
  let header = true;
  for await (const page of pages) {
    yield csvText(page.rows, withoutColumns({ columns, header }, page));
    header = false;
  }
}

import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { nextEnd } from '../holdings/statement.ts';
import {
  type Given,
  LIMIT_DEFAULT,
  LIMIT_MAX,
  PARAMETERS,
  type ParameterName,
  parameter,
  TABLES,
  type TableName,
} from '../holdings/table-question.ts';
import { csvText, LISTED_COLUMNS, type Row, type Table, tableBody, withoutColumns } from '../holdings/table-rows.ts';
import { columnsOf } from '../http/table-operation.ts';
import { DURATION_EXPECTED, parseDuration } from '../ledger/duration.ts';
import { parseRequestTime } from '../ledger/time.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { joined, type NamedQuestion, operationOf, pagesOf, tablesOf, wholeParty } from './ask-table.ts';
import { type CliCommand, formOf, type Invocation, parseOption, widthOf } from './command.ts';
import { readStatus } from './status.ts';
import { tableForPeople } from './table-for-people.ts';
import { rowsForPeople, safeJson } from './terminal.ts';

/** The options that are parameters of a table: with the name of a value, and what the help says. */
const OPTIONS: Readonly<Partial<Record<ParameterName, readonly [option: string, value: string, help: string]>>> = {
  party: ['owner', 'PARTY', 'party id of the owner; on a terminal a beginning that no other has is enough'],
  migration_id: ['migration', 'N', 'migration (default: the newest with a snapshot or update)'],
  record_time: ['at', 'TIME', 'the snapshot at or before this time: RFC 3339, a date, or -7d (default: the newest)'],
  from: ['from', 'TIME', 'from this time on: RFC 3339, a date, or -7d (default: the beginning)'],
  to: ['to', 'TIME', 'up to this time (default: the end)'],
  every: ['every', 'D', 'time between two points, such as 1h or 1d (default: one that gives at most 1000 points)'],
  by: ['by', 'AMOUNT', 'order by this amount: total, unlocked or locked (default: total)'],
  prefix: ['prefix', 'TEXT', 'only owners whose party id begins so'],
  contains: ['contains', 'TEXT', 'only owners whose party id has this anywhere, in any case'],
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
  summary: "An owner's totals over time",
  examples: [
    'holdfast history --owner alice::1220ab',
    'holdfast history --owner alice::1220ab --last 30d --every 1d --csv',
  ],
});

export const topCommand = tableCommand('top', {
  summary: 'The largest owners at a snapshot',
  examples: ['holdfast top --limit 10', 'holdfast top --at -7d --by locked --json --url http://127.0.0.1:8080'],
});

export const ownersCommand = tableCommand('owners', {
  summary: 'Every owner with the totals at a snapshot',
  examples: ['holdfast owners --prefix alice', 'holdfast owners --at 2025-02-14 --csv'],
});

export const movementsCommand = tableCommand('movements', {
  summary: 'What each update changed of an owner',
  examples: [
    'holdfast movements --owner alice::1220ab --kind in --limit 20',
    'holdfast movements --owner alice::1220ab --from 2026-10-01T00:00:00Z --order asc --csv',
    'holdfast movements --owner alice::1220ab --url http://127.0.0.1:8080',
  ],
});

export const statementCommand = tableCommand('statement', {
  summary: 'What an owner received and sent in each period, with opening and closing',
  examples: [
    'holdfast statement --owner alice::1220ab --month 2026-10',
    'holdfast statement --owner alice::1220ab --every 1mo --csv',
  ],
});

export const locksCommand = tableCommand('locks', {
  summary: 'Locked coins of an owner, in the order in which they unlock',
  examples: [
    'holdfast locks --owner alice::1220ab',
    'holdfast locks --owner alice::1220ab --at 2026-10-01T00:00:00Z --json',
  ],
});

export const instrumentsCommand = tableCommand('instruments', {
  summary: 'List the coin and the tokens with their totals, or those of an owner, from the data directory or a service',
  examples: ['holdfast instruments', 'holdfast instruments --owner alice::1220ab --at 2026-10-01T00:00:00Z --csv'],
  ofOwner: 'owner instruments',
});

export const snapshotsCommand: CliCommand = {
  usage: 'snapshots',
  summary: 'The sealed snapshots; on a terminal the newest ones first',
  examples: ['holdfast snapshots', 'holdfast snapshots --last 7d --json', 'holdfast snapshots --limit 100 --csv'],
  addOptions: (command) =>
    addForms(
      addRange(command)
        .option('--migration <N>', 'only this migration (default: all)')
        .option('--limit <N>', `only so many, the newest (default: all; ${TERMINAL_ROWS} on a terminal)`),
    ),
  run: async (invocation) => {
    const { stdout, stderr } = invocation.terminal;
    const options = withRange(invocation.options);
    const form = formOf(options);
    const isShown = form === 'people' && stdout.isTTY === true;
    const rowsMax = options.limit === undefined && !isShown ? Infinity : limitOf({ limit: options.limit }, isShown);
    using opened = new DisposableStack();
    const ask = tablesOf(invocation, opened);
    const only = parseOption(options, 'migration', PARAMETERS.migration_id);
    const [from, to] = (['from', 'to'] as const).map((name) => parseOption(options, name, PARAMETERS[name]));
    const newestFirst: Row[] = [];
    let isCut = false;
    for (const { migration_id } of (await readStatus(invocation)).status.snapshots.toReversed()) {
      if (only !== null && only !== BigInt(migration_id)) continue;
      if (newestFirst.length >= rowsMax) isCut = true;
      if (isCut) break;
      const query = { migration_id: BigInt(migration_id), from, to, every: null, order: 'desc', limit: 0, after: null };
      const question = { table: 'snapshots', query } as NamedQuestion;
      const found = await joined(pagesOf(rowsMax - newestFirst.length, ask(question)));
      newestFirst.push(...found.rows.map((row) => ({ migration_id, ...row })));
      isCut = typeof found.next === 'string';
    }
    const rows = (isShown ? newestFirst : newestFirst.toReversed()).map((row) =>
      Object.fromEntries(LISTED_COLUMNS.map((name) => [name, row[name]])),
    );
    if (form === 'json') stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    else if (form === 'csv') stdout.write(csvText(rows, { columns: LISTED_COLUMNS, header: true }));
    else {
      const leftOut = ['changes_digest', 'digest', 'forced', 'contracts', 'total', 'owners', 'migration_id'];
      stdout.write(rowsForPeople(LISTED_COLUMNS, rows, { parts: /_id$/g, width: widthOf(stdout), leftOut }));
      if (isCut) stderr.write(MORE_ROWS);
    }
  },
};

/** Rows that a terminal is shown, and what is said where there are more. */
const TERMINAL_ROWS = 20;
const MORE_ROWS = 'holdfast: there are more rows; --limit asks for as many, --csv prints all\n';

function addRange(command: Command): Command {
  for (const name of ['from', 'to'] as const) command.option(`--${name} <TIME>`, OPTIONS[name]![2]);
  return command.option('--last <D>', 'only of so long ago, such as 7d');
}

function addForms(command: Command): Command {
  return command
    .option('--url <URL>', 'ask a running service, instead of --data')
    .option('--json', 'print JSON for programs')
    .option('--csv', 'print CSV');
}

/** With `--last 7d` as `--from -7d`. */
function withRange(options: Invocation['options']): Invocation['options'] {
  const { last, from } = options;
  if (last === undefined) return options;
  if (from !== undefined) throw new Refusal('--last: given with --from, expected one of them');
  if (parseDuration(String(last)) === null)
    throw new Refusal(`--last: given ${showGiven(last)}, expected ${DURATION_EXPECTED}`);
  return { ...options, from: `-${last}` };
}

/** A command that prints what an operation of /holdfast/v1 answers: of the data directory, or of a service. */
function tableCommand(
  name: TableName,
  // The table where --owner is given, which is an option then.
  { summary, examples, ofOwner }: Pick<CliCommand, 'summary' | 'examples'> & { readonly ofOwner?: TableName },
): CliCommand {
  const { parameters: named, paged } = TABLES[ofOwner ?? name];
  const isStatement = name === 'statement';
  return {
    usage: name,
    summary,
    examples,
    settings: name === 'instruments' || named.some((each) => each === 'instrument_id') ? ['instruments'] : [],
    addOptions(command) {
      for (const name of named) {
        const [option, value, help] = isStatement && name === 'every' ? PERIOD_OPTION : OPTIONS[name]!;
        if (name === 'party' && ofOwner === undefined) command.requiredOption(`--${option} <${value}>`, help);
        else if (name !== 'from' && name !== 'to') command.option(`--${option} <${value}>`, help);
      }
      if (named.some((name) => name === 'from')) addRange(command);
      if (isStatement) command.option('--month <MONTH>', 'a calendar month in UTC, such as 2026-10, by day');
      const all = 'all of them with --csv';
      const rows = `number of rows (default: ${LIMIT_DEFAULT}; ${TERMINAL_ROWS} on a terminal; ${all})`;
      if (paged) command.option('--limit <N>', rows);
      return addForms(command);
    },
    run: async (invocation) => {
      const { terminal } = invocation;
      const { stdout, stderr } = terminal;
      const form = formOf(invocation.options);
      const isShown = form === 'people' && stdout.isTTY === true;
      const ranged = withRange(invocation.options);
      const rowsMax = limitOf(ranged, isShown);
      using opened = new DisposableStack();
      const tables = tablesOf(invocation, opened);
      const { owner } = ranged;
      const whole = typeof owner === 'string' && { owner: await wholeParty(owner, { ...invocation, ask: tables }) };
      const options: Invocation['options'] = { ...ranged, ...whole };
      const table = ofOwner !== undefined && options.owner !== undefined ? ofOwner : name;
      const columns = columnsOf(operationOf(table));
      const parameters: readonly ParameterName[] = TABLES[table].parameters;
      const given = parameters.map((name) => [name, parseOption(options, OPTIONS[name]![0], parameter(name, table))]);
      const query = { ...Object.fromEntries(given), ...monthOf(options), limit: 0, after: null };
      const pages = pagesOf(rowsMax, tables({ table, query } as unknown as NamedQuestion));
      if (form === 'csv') return await print(csvOf(pages, columns), stdout);
      const found = await joined(pages);
      if (form === 'json') stdout.write(safeJson(tableBody(found)));
      else {
        // A terminal shows its end, so the newest points of a history come first.
        const shown = isShown && table === 'history' ? found.rows.toReversed().slice(0, TERMINAL_ROWS) : found.rows;
        const called = withNames({ ...found, rows: shown, columns }, query, invocation.config.instrumentNames);
        stdout.write(tableForPeople(table, called, widthOf(stdout)));
        if (isShown && table === 'history' && found.rows.every(({ contracts }) => contracts === 0))
          stderr.write(
            'holdfast: this owner has no coin at any of these times; `holdfast owners --prefix` finds ids\n',
          );
        if (typeof found.next === 'string') stderr.write(MORE_ROWS);
        else if (shown.length < found.rows.length)
          stderr.write(
            `holdfast: the newest ${shown.length} of ${found.rows.length} points; --last and --every choose others\n`,
          );
      }
    },
  };
}

/** With what the operator calls the instruments of the rows, or that of the question. */
function withNames<T extends Pick<Table, 'head' | 'rows'> & { readonly columns: readonly string[] }>(
  table: T,
  { instrument_admin, instrument_id }: Row,
  names: Invocation['config']['instrumentNames'],
): T {
  const nameOf = (admin: unknown, id: unknown) => names.find((each) => each.admin === admin && each.id === id);
  if (!table.columns.includes('id')) {
    const own = nameOf(instrument_admin, instrument_id);
    return own === undefined ? table : { ...table, head: { ...table.head, instrument: `${own.symbol} (${own.name})` } };
  }
  if (names.length === 0) return table;
  const rows = table.rows.map((row) => {
    const { symbol, name } = nameOf(row.admin, row.id) ?? {};
    return { ...row, symbol, name };
  });
  return {
    ...table,
    rows,
    columns: table.columns.flatMap((each) => (each === 'id' ? ['id', 'symbol', 'name'] : each)),
  };
}

/** As many rows as are wanted. JSON is the body of one request. */
function limitOf({ limit, json, csv }: Invocation['options'], isShown: boolean): number {
  if (limit === undefined) return csv === true ? Infinity : isShown ? TERMINAL_ROWS : LIMIT_DEFAULT;
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

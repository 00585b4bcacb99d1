import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answerTable } from '../holdings/table-answers.ts';
import {
  LIMIT_DEFAULT,
  LIMIT_MAX,
  nextQuestion,
  type ParameterName,
  parameter,
  TABLES,
  type TableName,
  type TableQuestion,
} from '../holdings/table-question.ts';
import { csvText, LISTED_COLUMNS, listedRow, type Table, tableBody, tableText } from '../holdings/table-rows.ts';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import { createRankings } from '../views/read/server-answers.ts';
import { openViewsStore } from '../views/read/views-store.ts';
import { type CliCommand, formOf, type Invocation, parseOption } from './command.ts';
import { rowsForPeople } from './terminal.ts';

/** The options that are parameters of a table: with the name of a value, and what the help says. */
const OPTIONS: Readonly<Partial<Record<ParameterName, readonly [option: string, value: string, help: string]>>> = {
  party: ['owner', 'PARTY', 'whose totals'],
  migration_id: ['migration', 'N', 'migration of the snapshots (default: the newest that has any)'],
  record_time: ['at', 'TIME', 'the snapshot at or before this time, RFC 3339 (default: the newest)'],
  from: ['from', 'TIME', 'from this time on (default: the first snapshot)'],
  to: ['to', 'TIME', 'up to this time (default: the newest snapshot)'],
  every: ['every', 'D', 'time between two points, such as 1h or 1d (default: one that gives at most 1000 points)'],
  by: ['by', 'AMOUNT', 'order by this amount: total, unlocked or locked (default: total)'],
  prefix: ['prefix', 'TEXT', 'only owners whose party id begins so'],
};

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
    else if (form === 'csv') terminal.stdout.write(csvText({ columns: LISTED_COLUMNS, rows }, true));
    else {
      terminal.stdout.write(rowsForPeople(LISTED_COLUMNS, rows, /_id$/g));
    }
  },
};

/** A command that prints from the data directory what an operation of /holdfast/v1 answers. */
function tableCommand(
  table: TableName,
  { summary, examples }: { readonly summary: string; readonly examples: readonly string[] },
): CliCommand {
  const { parameters, paged } = TABLES[table];
  return {
    usage: table,
    summary,
    examples,
    addOptions(command) {
      for (const name of parameters) {
        const [option, value, help] = OPTIONS[name]!;
        if (name === 'party') command.requiredOption(`--${option} <${value}>`, help);
        else command.option(`--${option} <${value}>`, help);
      }
      if (paged) command.option('--limit <N>', `number of rows (default: ${LIMIT_DEFAULT}; all of them with --csv)`);
      return command.option('--json', 'print JSON for programs, as over HTTP').option('--csv', 'print CSV');
    },
    run: async ({ options, config, terminal: { stdout, stderr } }) => {
      const form = formOf(options);
      const rowsMax = limitOf(options);
      const given = parameters.map((name) => [name, parseOption(options, OPTIONS[name]![0], parameter(name, table))]);
      const query = Object.fromEntries(given);
      const question = { table, query: { ...query, limit: 0, after: null } } as unknown as TableQuestion;
      using store = openViewsStore(config.dataDir);
      const ranked = createRankings().over(store, (place) => store.facts({ kind: 'ranking', ...place }));
      const pages = pagesOf(question, rowsMax, (page) => answerTable(page, ranked));
      if (form === 'csv') await print(csvOf(pages, table), stdout);
      else {
        const found = await joined(pages);
        stdout.write(form === 'json' ? `${JSON.stringify(tableBody(found), null, 2)}\n` : tableForPeople(found));
        if (form === 'people' && typeof found.next === 'string')
          stderr.write('holdfast: there are more rows; --limit asks for as many, --csv prints all\n');
      }
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

async function* pagesOf(
  question: TableQuestion,
  rowsMax: number,
  ask: (question: TableQuestion) => Promise<Table>,
): AsyncGenerator<Table> {
  let left = rowsMax;
  for (let next: TableQuestion | null = question; next !== null; ) {
    const limit = Math.min(left, LIMIT_MAX);
    const page: Table = await ask({ ...next, query: { ...next.query, limit } } as TableQuestion);
    yield page;
    left -= page.rows.length;
    next = typeof page.next === 'string' && left > 0 ? nextQuestion(question, page.next) : null;
  }
}

async function joined(pages: AsyncIterable<Table>): Promise<Table> {
  const all: Table[] = [];
  for await (const page of pages) all.push(page);
  return { ...all.at(-1)!, rows: all.flatMap(({ rows }) => rows) };
}

function tableForPeople({ head, columns, rows }: Table): string {
  const facts = Object.entries(head).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`);
  return `${facts.join(', ')}\n\n${rowsForPeople(columns, rows)}`;
}

/** As its reader takes it, who may go away before the end. */
async function print(texts: AsyncIterable<string>, stdout: Writable): Promise<void> {
  await pipeline(texts, stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && !stdout.destroyed) throw error;
  });
}

async function* csvOf(pages: AsyncIterable<Table>, name: TableName): AsyncGenerator<string> {
  let form: 'csv' | 'csv rows' = 'csv';
  for await (const page of pages) {
    yield tableText(page, name, form).text;
    form = 'csv rows';
  }
}

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { Option } from 'commander';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { counted } from '../counted.ts';
import { HoldingsFault } from '../holdings/holdings-fault.ts';
import { movementEvent, requireKept } from '../holdings/movement-answers.ts';
import { DAY_US } from '../holdings/statement.ts';
import { PARAMETERS } from '../holdings/table-question.ts';
import { csvText, LISTED_COLUMNS, ownerEvent, type Row, snapshotEvent } from '../holdings/table-rows.ts';
import { formatTime, parseRequestTime } from '../ledger/time.ts';
import { requireUsable } from '../named-file.ts';
import { Refusal } from '../refusal.ts';
import { type ExportedFacts, openExport } from '../views/read/export-reader.ts';
import { type CliCommand, type Invocation, parseOption } from './command.ts';
import { createProgress } from './progress.ts';

const OF_OWNER = ['migration_id', 'party_id', 'instrument_admin', 'instrument_id', 'record_time'];
const OF_UPDATE = ['counted_at', 'update_id', 'provider', 'account_id', 'kind'];
const TOTALS = ['unlocked', 'locked', 'total'];
const CHANGES = ['change_unlocked', 'change_locked', 'change_total'];
const OF_OTHERS = ['others', 'others_count', 'minted', 'burned', 'legs'];

/** Rows are those of the stream's events. */
const TABLES: {
  readonly [Name in keyof ExportedFacts]: {
    readonly columns: readonly string[];
    readonly rowOf: (fact: ExportedFacts[Name]) => Row;
  };
} = {
  movements: {
    columns: [...OF_OWNER, ...OF_UPDATE, ...CHANGES, ...TOTALS, ...OF_OTHERS],
    rowOf: (movement) => ({ ...movementEvent(movement), party_id: movement.party || null }),
  },
  totals: { columns: [...OF_OWNER, ...TOTALS, 'contracts', ...CHANGES], rowOf: (change) => ownerEvent(change, change) },
  snapshots: { columns: LISTED_COLUMNS, rowOf: (snapshot) => snapshotEvent(snapshot, { skipped: false }) },
};

export const exportCommand: CliCommand = {
  usage: 'export',
  summary: 'Write Parquet or CSV files by day: movements, totals or snapshots; a service may run on the directory',
  examples: [
    'holdfast export --what movements --output ./lake',
    'holdfast export --what totals --from 2026-10-01 --to 2026-10-31 --format csv --output ./october',
  ],
  addOptions(command) {
    const what = 'movements of all owners, totals of owners where a snapshot changed them, or snapshots';
    return command
      .addOption(new Option('--what <TABLE>', what).choices(Object.keys(TABLES)).makeOptionMandatory())
      .requiredOption(
        '--output <DIR>',
        'writes DIR/<TABLE>/day=2026-10-01/part.parquet where its rows are not there yet',
      )
      .addOption(new Option('--format <FORMAT>', 'form of the files').choices(['parquet', 'csv']).default('parquet'))
      .option('--from <TIME>', 'from the day of this time on, in UTC: RFC 3339, a date, or -7d (default: the first)')
      .option('--to <TIME>', 'up to the day of this time, all of it (default: the last)');
  },
  run: (invocation) => exportTable(invocation.options.what as keyof ExportedFacts, invocation),
};

async function exportTable<Name extends keyof ExportedFacts>(
  name: Name,
  { options, config, terminal: { stdout, stderr, stopSignal }, logger }: Invocation,
): Promise<undefined> {
  const [from, to] = (['from', 'to'] as const).map((each) => parseOption(options, each, PARAMETERS[each]) ?? null);
  const target = join(options.output as string, name);
  const { columns, rowOf } = TABLES[name];
  using opened = openExport(config.dataDir);
  const { store, histories } = opened;
  const migrations = opened.migrations[name];
  if (migrations.length === 0) throw new HoldingsFault('no_snapshot_in', 'There is nothing to export yet');
  if (name === 'movements' && typeof from === 'bigint')
    for (const history of histories) if (from <= history.appliedTo) requireKept(history, 'from', from);
  const dayOf = (time: number): number => Math.floor(time / DAY_US) * DAY_US;
  const first = dayOf(Math.max(Number(from ?? 0), Math.min(...migrations.map((each) => each.from))));
  const last = dayOf(Math.min(Number(to ?? Number.MAX_SAFE_INTEGER), Math.max(...migrations.map((each) => each.to))));
  requireUsable('--output', `${target} cannot be made`, () => mkdirSync(target, { recursive: true }));
  const stop = stopSignal();
  using progress = createProgress({ doing: 'exporting', stderr, logger });
  const done = { days: 0, kept: 0, rows: 0 };
  for (let day = first; day <= last; day += DAY_US) {
    const parts = migrations.flatMap((migration) => migration.dayAt(day) ?? []);
    const date = formatTime(day).slice(0, 'yyyy-mm-dd'.length);
    const file = join(target, `day=${date}`, `part.${options.format}`);
    const about = { store, columns: columns.join(), rows_of: parts.map(({ source }) => source) };
    if (parts.length === 0) continue;
    if (isWritten(file, about)) {
      done.kept += 1;
      continue;
    }
    await using writing = await beginFile(file, columns);
    for (const { read } of parts)
      for (const facts of read()) {
        writing.add(facts.map(rowOf));
        done.rows += facts.length;
        const days = { done: (day - first) / DAY_US, total: (last - first) / DAY_US + 1 };
        const text = `${counted(done.rows, 'row')} | ${date}`;
        progress.update({ bar: name, ...days, text, logged: { day: date, ...done } });
        await turn();
        if (stop.aborted) throw new Error('stopped before the end; the same command goes on');
      }
    await writing.finish(about);
    done.days += 1;
  }
  progress[Symbol.dispose]();
  const kept = done.kept === 0 ? '' : `; ${counted(done.kept, 'day')} had all rows already`;
  stdout.write(`${counted(done.days, 'day')} written to ${target}, ${counted(done.rows, 'row')}${kept}\n`);
}

/** What the rows of a file follow from. Stored beside it, under a name that readers of folders leave out. */
type About = { readonly store: string } & Row;
const besideOf = (file: string): string => join(dirname(file), `_${basename(file)}.json`);
const textOf = (about: About, bytes: number): string => JSON.stringify({ ...about, bytes });

/** Throws a Refusal for a file of another data directory. */
function isWritten(file: string, about: About): boolean {
  if (!existsSync(file) || !existsSync(besideOf(file))) return false;
  const text = readFileSync(besideOf(file), 'utf8');
  // One that a full disk cut says nothing.
  const store = /^\{"store":"([^"]*)"/.exec(text)?.[1] ?? about.store;
  if (store === about.store) return text === textOf(about, statSync(file).size);
  throw new Refusal(`--output: ${file} was exported from another data directory: give another one, or remove it`);
}

/** Begins a file under a name that readers of folders leave out. It gets its own when it is whole and on the disk. */
async function beginFile(file: string, columns: readonly string[]) {
  const [folder, begun] = [dirname(file), `.${basename(file)}.`];
  mkdirSync(folder, { recursive: true });
  // What a killed process left, or another writes: that one fails then.
  for (const name of readdirSync(folder)) if (name.startsWith(begun)) rmSync(join(folder, name), { force: true });
  const path = join(folder, `${begun}${randomUUID()}`);
  const { add, end } = file.endsWith('.csv') ? csvFile(path, columns) : parquetFile(path, columns);
  const written = await open(path, 'r+');
  return {
    add: (rows: readonly Row[]): void => named(file, () => add(rows)),
    async finish(about: About): Promise<void> {
      named(file, end);
      await written.sync();
      const { nlink, size } = await written.stat();
      // Rows that were added since are in a new file of that name.
      if (nlink === 0) throw new Error(`${file} is written by another export too; run one at a time`);
      rmSync(besideOf(file), { force: true });
      renameSync(path, file);
      writeFileSync(besideOf(file), textOf(about, size));
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await written.close();
      rmSync(path, { force: true });
    },
  };
}

/** An error of writing into an open file names none. */
function named(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw Object.assign(error as Error, { path });
  }
}

function csvFile(path: string, columns: readonly string[]) {
  writeFileSync(path, csvText([], { columns, header: true }));
  return {
    add: (rows: readonly Row[]) => writeFileSync(path, csvText(rows, { columns, header: false }), { flag: 'a' }),
    end: () => {},
  };
}

/** Rows of a group are held in memory until it is written. */
const GROUP_ROWS = 20_000;

function parquetFile(path: string, names: readonly string[]) {
  const columns = names.map((name) => ({ name, ...typeOf(name), data: [] as unknown[] }));
  const elements = columns.map(({ name, element }) => ({ name, repetition_type: 'OPTIONAL', ...element }) as const);
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [{ name: 'holdfast', num_children: elements.length }, ...elements],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
  });
  function flush(): void {
    const rows = columns[0]!.data.length;
    if (rows > 0) writer.write({ columnData: columns.map(({ name, data }) => ({ name, data })), rowGroupSize: rows });
    for (const column of columns) column.data = [];
  }
  return {
    add(rows: readonly Row[]): void {
      for (const row of rows)
        for (const { name, data, encode } of columns)
          data.push(row[name] == null ? null : encode(row[name], name, row));
      if (columns[0]!.data.length >= GROUP_ROWS) flush();
    },
    end(): void {
      flush();
      writer.finish();
    },
  };
}

/** How Parquet stores a field of a row. */
interface ColumnType {
  readonly element: object;
  readonly encode: (field: unknown, name: string, row: Row) => unknown;
}

function typeOf(column: string): ColumnType {
  if ([...TOTALS, ...CHANGES, 'minted', 'burned'].includes(column)) return DECIMAL;
  if (['record_time', 'counted_at'].includes(column)) return TIMESTAMP;
  if (['migration_id', 'owners', 'contracts', 'others_count'].includes(column))
    return { element: { type: 'INT64' }, encode: (count) => BigInt(count as number) };
  if (column === 'forced') return { element: { type: 'BOOLEAN' }, encode: (forced) => forced };
  const textOf = (field: unknown) => (typeof field === 'object' ? JSON.stringify(field) : String(field));
  return { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, encode: textOf };
}

const TIMESTAMP: ColumnType = {
  element: {
    ...{ type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  encode: (time) => parseRequestTime(String(time)),
};

const DECIMAL_DIGITS = 38;
const DECIMAL: ColumnType = {
  element: {
    ...{ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 },
    ...{ converted_type: 'DECIMAL', precision: DECIMAL_DIGITS, scale: 10 },
  },
  encode(amount, name, { migration_id, party_id, record_time, update_id }) {
    const digits = String(amount).replace('.', '');
    if (digits.replace('-', '').length <= DECIMAL_DIGITS) return BigInt(digits);
    const row = JSON.stringify({ migration_id, party_id, record_time, update_id });
    const expected = 'at most 28 digits before the point: --format csv has any amount';
    throw new Refusal(`--format parquet: ${name} of the row ${row} is ${amount}, expected ${expected}`);
  },
};

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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
import { Refusal } from '../refusal.ts';
import { type ExportedFacts, openExport } from '../views/read/export-reader.ts';
import { type CliCommand, type Invocation, parseOption } from './command.ts';
import { createProgress } from './progress.ts';

type Exported = keyof ExportedFacts;

const OF_OWNER = ['migration_id', 'party_id', 'instrument_admin', 'instrument_id', 'record_time'] as const;
const TOTALS = ['unlocked', 'locked', 'total'] as const;
const CHANGES = ['change_unlocked', 'change_locked', 'change_total'] as const;
const ABOUT_UPDATE = ['counted_at', 'update_id', 'provider', 'account_id', 'kind'] as const;
const OTHERS = ['others', 'others_count', 'minted', 'burned', 'legs'] as const;

/** The columns of each table, and a row as events of the stream have it. */
const EXPORTED: {
  readonly [Kind in Exported]: {
    readonly columns: readonly string[];
    readonly rowOf: (fact: ExportedFacts[Kind]) => Row;
  };
} = {
  movements: {
    columns: [...OF_OWNER, ...ABOUT_UPDATE, ...CHANGES, ...TOTALS, ...OTHERS],
    rowOf: (movement) => ({ ...movementEvent(movement), party_id: movement.party || null }),
  },
  totals: { columns: [...OF_OWNER, ...TOTALS, 'contracts', ...CHANGES], rowOf: (change) => ownerEvent(change, change) },
  snapshots: { columns: LISTED_COLUMNS, rowOf: (snapshot) => snapshotEvent(snapshot, { skipped: false }) },
};

export const exportCommand: CliCommand = {
  usage: 'export',
  summary: 'Write movements, totals or snapshots as Parquet or CSV files, one for each day',
  examples: [
    'holdfast export --what movements --output ./lake',
    'holdfast export --what totals --from 2026-10-01 --to 2026-10-31 --format csv --output ./october',
  ],
  addOptions: (command) =>
    command
      .addOption(
        new Option(
          '--what <TABLE>',
          'movements of all owners; totals of owners, where a snapshot changed them; snapshots',
        )
          .choices(Object.keys(EXPORTED))
          .makeOptionMandatory(),
      )
      .requiredOption(
        '--output <DIR>',
        'files are DIR/<TABLE>/day=2026-10-01/part.parquet; a finished day is kept as it is',
      )
      .addOption(new Option('--format <FORMAT>', 'form of the files').choices(['parquet', 'csv']).default('parquet'))
      .option(
        '--from <TIME>',
        'from the whole day of this time on, in UTC: RFC 3339, a date, or -7d (default: the first)',
      )
      .option('--to <TIME>', 'up to the whole day of this time (default: the last)'),
  run: (invocation) => exportTable(invocation.options.what as Exported, invocation),
};

async function exportTable<Kind extends Exported>(
  what: Kind,
  { options, config, terminal: { stdout, stderr, stopSignal }, logger }: Invocation,
): Promise<undefined> {
  const [from, to] = (['from', 'to'] as const).map((name) => parseOption(options, name, PARAMETERS[name]) ?? null);
  const [target, format] = [join(options.output as string, what), options.format as 'parquet' | 'csv'];
  const { columns, rowOf } = EXPORTED[what];
  using reader = openExport(config.dataDir);
  const days = reader.days[what]();
  if (days.from > days.to) throw new HoldingsFault('no_snapshot_in', 'Nothing to export: no snapshot, or no update');
  if (what === 'movements' && typeof from === 'bigint')
    for (const history of reader.histories) if (from <= history.appliedTo) requireKept(history, 'from', from);
  const dayOf = (time: number): number => Math.floor(time / DAY_US) * DAY_US;
  const first = dayOf(Math.max(Number(from ?? 0), days.from));
  const last = dayOf(Math.min(Number(to ?? Number.MAX_SAFE_INTEGER), days.to));
  const stop = stopSignal();
  using progress = createProgress({ doing: 'exporting', stderr, logger });
  const done = { days: 0, kept: 0, rows: 0 };
  for (let day = first; day <= last; day += DAY_US) {
    const parts = days.partsOf(day);
    if (parts.length === 0) continue;
    const date = formatTime(day).slice(0, 'yyyy-mm-dd'.length);
    const file = join(target, `day=${date}`, `part.${format}`);
    const source = {
      store: reader.store,
      source: parts.map((part) => part.source).join(', '),
      columns: columns.join(),
    };
    if (isWritten(file, source)) {
      done.kept += 1;
      continue;
    }
    using writing = openDayFile(file, columns);
    for (const part of parts)
      for (const facts of part.read()) {
        writing.add(facts.map(rowOf));
        done.rows += facts.length;
        const text = `${counted(done.rows, 'row')} | ${date}`;
        const step = {
          done: (day - first) / DAY_US,
          total: (last - first) / DAY_US + 1,
          text,
          logged: { day: date, ...done },
        };
        progress.update({ bar: what, ...step });
        await turn();
        if (stop.aborted) throw new Error('stopped before the end; the same command continues');
      }
    writing.finish(source);
    done.days += 1;
  }
  progress[Symbol.dispose]();
  const kept = done.kept === 0 ? '' : `; ${counted(done.kept, 'finished day')} kept as they are`;
  stdout.write(`${target} has ${counted(done.days, 'more day')}, ${counted(done.rows, 'row')}${kept}\n`);
}

/** What the rows of a file follow from; stored beside it. */
interface DaySource {
  readonly store: string;
  readonly source: string;
  readonly columns: string;
}

/** Readers of Parquet ignore names that begin so. */
const besideOf = (file: string): string => join(dirname(file), `_${basename(file)}.json`);
const textOf = (source: DaySource, file: string): string => JSON.stringify({ ...source, bytes: statSync(file).size });

/** Whether the file has these rows. Throws a Refusal for one of another data directory. */
function isWritten(file: string, source: DaySource): boolean {
  if (!existsSync(file) || !existsSync(besideOf(file))) return false;
  const text = readFileSync(besideOf(file), 'utf8');
  if (text.startsWith(JSON.stringify({ store: source.store }).slice(0, -1))) return text === textOf(source, file);
  throw new Refusal(
    `--output: ${file} was exported from another data directory; give an empty folder, or remove that one`,
  );
}

interface DayFile extends Disposable {
  add(rows: readonly Row[]): void;
  finish(source: DaySource): void;
}

/** Writes a file under a name that readers ignore, which becomes its own when it is whole and on disk. */
function openDayFile(file: string, columns: readonly string[]): DayFile {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  // What a process left that was killed. One that still runs then fails, and does no harm.
  const begun = `.${basename(file)}.`;
  for (const name of readdirSync(folder)) if (name.startsWith(begun)) rmSync(join(folder, name));
  const partial = join(folder, `${begun}${process.pid}`);
  const { add, finish } = file.endsWith('.csv') ? csvWriter(partial, columns) : parquetWriter(partial, columns);
  return {
    add,
    finish(source) {
      finish();
      const written = openSync(partial, 'r+');
      fsyncSync(written);
      closeSync(written);
      rmSync(besideOf(file), { force: true });
      renameSync(partial, file);
      writeFileSync(besideOf(file), textOf(source, file));
    },
    [Symbol.dispose]: () => rmSync(partial, { force: true }),
  };
}

function csvWriter(path: string, columns: readonly string[]) {
  writeFileSync(path, csvText([], { columns, header: true }));
  return {
    add: (rows: readonly Row[]): void => writeFileSync(path, csvText(rows, { columns, header: false }), { flag: 'a' }),
    finish: (): void => {},
  };
}

/** Rows that are written together, and held in memory until then. */
const ROW_GROUP = 20_000;

function parquetWriter(path: string, names: readonly string[]) {
  const columns = names.map((name) => ({ name, ...typeOf(name), data: [] as unknown[] }));
  const schema = columns.map(({ name, element }) => ({ name, repetition_type: 'OPTIONAL', ...element }) as const);
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [{ name: 'holdfast', num_children: columns.length }, ...schema],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
  });
  const flush = (): void => {
    const rowGroupSize = columns[0]!.data.length;
    if (rowGroupSize > 0) writer.write({ columnData: columns.map(({ name, data }) => ({ name, data })), rowGroupSize });
    for (const column of columns) column.data = [];
  };
  return {
    add(rows: readonly Row[]): void {
      for (const row of rows)
        for (const { name, data, convert } of columns)
          data.push(row[name] == null ? null : convert(row[name], name, row));
      if (columns[0]!.data.length >= ROW_GROUP) flush();
    },
    finish(): void {
      flush();
      writer.finish();
    },
  };
}

interface ColumnType {
  readonly element: object;
  readonly convert: (field: unknown, name: string, row: Row) => unknown;
}

const DECIMAL: ColumnType = {
  element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, converted_type: 'DECIMAL', precision: 38, scale: 10 },
  convert(text, name, row) {
    const digits = String(text).replace('.', '');
    if (digits.replace('-', '').length <= 38) return BigInt(digits);
    const { record_time, update_id, party_id, migration_id } = row;
    const where = JSON.stringify({ migration_id, party_id, record_time, update_id });
    throw new Refusal(
      `--format parquet: ${name} of the row ${where} is ${text}, expected at most 28 digits before the point: give --format csv`,
    );
  },
};
const TIMESTAMP: ColumnType = {
  element: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  convert: (text) => parseRequestTime(String(text)),
};
const INTEGER: ColumnType = { element: { type: 'INT64' }, convert: (count) => BigInt(Number(count)) };
const TEXT: ColumnType = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  convert: (field) => (typeof field === 'object' ? JSON.stringify(field) : String(field)),
};

function typeOf(column: string): ColumnType {
  if (column === 'forced') return { element: { type: 'BOOLEAN' }, convert: (forced) => forced };
  if (['record_time', 'counted_at'].includes(column)) return TIMESTAMP;
  if (['migration_id', 'owners', 'contracts', 'others_count'].includes(column)) return INTEGER;
  return [...TOTALS, ...CHANGES, 'minted', 'burned'].some((each) => each === column) ? DECIMAL : TEXT;
}

import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { isObject } from '../json/untrusted.ts';
import { isDiskError } from '../machine-errors.ts';

/** Characters that a terminal would obey, or that change the order of what it shows: controls, line and direction marks. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
/** Such characters in JSON, where line ends between tokens are ours and may stay. */
const UNSAFE_IN_JSON = /[^\P{C}\n]|[\u2028\u2029]/gu;

/** Text from a feed, made safe for a terminal. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** JSON, made safe for a terminal, with the same meaning. */
export function safeJson(value: unknown, indent = 2): string {
  const escaped = (character: string): string =>
    [...character.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return `${JSON.stringify(value, null, indent).replace(UNSAFE_IN_JSON, escaped)}\n`;
}

/** Bytes of a message, made safe for a terminal: UTF-8 as text, every other byte as `\xNN`. */
export function safeBytes(bytes: Buffer): string {
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
  if (Buffer.from(text).equals(bytes)) return safeText(text);
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** A log line as people read it: the time of day, the level if it is not `info`, the message, and the other fields behind it. */
export function logLineText(line: string): string {
  const { time, level, msg, err, pid: _pid, hostname: _host, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = pino.levels.labels[Number(level)] ?? String(level);
  const failure = isObject(err) ? [`${err.message}`] : [];
  const about = Object.entries(fields)
    .filter(([, value]) => value !== null && !(typeof value === 'string' && String(msg).includes(value)))
    .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  const message = [String(msg ?? ''), ...failure].filter((text) => text !== '').join(': ');
  const parts = [
    String(time).slice('yyyy-mm-ddT'.length, -'.123Z'.length),
    ...(name === 'info' ? [] : [name]),
    message,
  ];
  return `${[parts.join(' '), ...about].map(safeText).join(GAP)}\n`;
}

const GAP = '  ';

/** Rows under a header, columns two spaces apart, numbers aligned to the right. The cells are made safe for a terminal. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const [names = [], ...safeRows] = [header, ...rows].map((cells) => cells.map(safeText));
  const columns = names.map((name, i) => {
    const cells = safeRows.map((row) => row[i] ?? '');
    const width = cells.reduce((most, cell) => Math.max(most, cell.length), name.length);
    const isNumeric = cells.length > 0 && cells.every((cell) => /^-?\d+(\.\d+)?$/.test(cell));
    return (cell: string): string => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  const line = (cells: readonly string[]): string => cells.map((cell, i) => columns[i]!(cell)).join(GAP);
  return [names, ...safeRows].map((cells) => `${line(cells).trimEnd()}\n`).join('');
}

/** How rows are shown to people. */
interface ForPeople {
  /** What the names of columns are shown without. */
  readonly parts?: RegExp | string;
  /** The characters of a line of the terminal; absent where the reader is no terminal, and then all is shown whole. */
  readonly width?: number | undefined;
  /** Columns that a terminal too narrow is not shown, the first of these before the second. */
  readonly leftOut?: readonly string[];
}

/** Rows under the names of the columns, on a terminal without empty columns and fractions of seconds, and with ids cut to fit it. */
export function rowsForPeople(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
  { parts = '', width, leftOut = [] }: ForPeople = {},
): string {
  const all = columns.map((name): Column => {
    const head = name.replace(parts, '').replaceAll('_', ' ');
    return { name, texts: [head, ...rows.map((row) => safeText(String(row[name] ?? '')))] };
  });
  const filled = all.filter(({ texts }) => rows.length === 0 || texts.some((text, i) => i > 0 && text !== ''));
  const shown = width === undefined ? all : fitted(filled.map(withoutFractions), width, leftOut);
  const [header = [], ...lines] = [0, ...rows.keys()].map((_, i) => shown.map(({ texts }) => texts[i]!));
  return formatTable(header, lines);
}

interface Column {
  readonly name: string;
  /** The head, and a text for each row, safe for a terminal. */
  readonly texts: readonly string[];
}

const CUT_COLUMNS = [
  ...['admin', 'id', 'provider', 'account_id', 'party_id'],
  ...['with', 'holders', 'context', 'contract_id', 'update_id'],
];
const CUT_CHARS_MIN = 10;

/** The columns that fit a line, those of ids cut in the middle. Amounts are never cut, so that a line may still be too long. */
function fitted(columns: readonly Column[], width: number, leftOut: readonly string[]): readonly Column[] {
  const leastOf = (column: Column): number =>
    CUT_COLUMNS.includes(column.name) ? Math.min(widthOf(column), CUT_CHARS_MIN) : widthOf(column);
  let room = columns.reduce((left, column) => left - GAP.length - leastOf(column), width + GAP.length);
  const [first, ...others] = leftOut;
  if (room < 0 && first !== undefined) {
    const kept = columns.filter(({ name }) => name !== first);
    return fitted(kept, width, others);
  }
  const cut = columns.filter(({ name }) => CUT_COLUMNS.includes(name)).sort((a, b) => widthOf(a) - widthOf(b));
  const widths = new Map<Column, number>();
  for (const [i, column] of cut.entries()) {
    const least = leastOf(column);
    const more = Math.min(widthOf(column) - least, Math.max(0, Math.floor(room / (cut.length - i))));
    widths.set(column, least + more);
    room -= more;
  }
  return columns.map((column) => {
    const most = widths.get(column);
    return most === undefined ? column : { ...column, texts: column.texts.map((text) => cutInside(text, most)) };
  });
}

function widthOf({ texts }: Column): number {
  return texts.reduce((most, text) => Math.max(most, text.length), 0);
}

/** Two thirds of what stays are the beginning. */
export function cutInside(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - end)}\u2026${text.slice(text.length - end)}`;
}

/** Times in whole seconds; as dates where all are midnights. */
function withoutFractions({ name, texts: [head, ...texts] }: Column): Column {
  const times = texts.map((text) => text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/, '$1Z'));
  const areDates = times.every((time) => /^\d{4}-\d\d-\d\dT00:00:00Z$/.test(time));
  return { name, texts: [head!, ...(areDates ? times.map((time) => time.slice(0, 'yyyy-mm-dd'.length)) : times)] };
}

export type Fact = readonly [name: string, value: string | number | null];

/** Facts below each other, each behind its name; without those that are null. */
export function formatFacts(facts: readonly Fact[]): string {
  const known = facts.filter(([, value]) => value !== null).map((fact) => fact.map(String));
  return formatTable(known[0] ?? [], known.slice(1));
}

const STANDARD_ERROR = 2;

/**
 * The stream for logs. On a full disk a log file loses lines until there is room again, and the service continues: Node's own
 * stream to a file would be closed by the first line that fails. For anything but a file it is Node's own.
 */
export function openStandardError(own: NodeJS.WriteStream): Writable {
  if (!fstatSync(STANDARD_ERROR).isFile()) return own;
  // A line that was written in part must not join the next one.
  let isCut = false;
  return new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      const bytes = isCut ? Buffer.concat([Buffer.from('\n'), chunk]) : chunk;
      try {
        const written = writeSync(STANDARD_ERROR, bytes);
        isCut = written < bytes.length && (isCut || written > 0);
      } catch (error) {
        if (!isDiskError(error)) return done(error as Error);
      }
      done();
    },
  });
}

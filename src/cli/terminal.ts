import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
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
export function safeJson(value: unknown): string {
  const escaped = (character: string): string =>
    [...character.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return `${JSON.stringify(value, null, 2).replace(UNSAFE_IN_JSON, escaped)}\n`;
}

/** Bytes of a message, made safe for a terminal: UTF-8 as text, every other byte as `\xNN`. */
export function safeBytes(bytes: Buffer): string {
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
  if (Buffer.from(text).equals(bytes)) return safeText(text);
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** Rows under a header, columns two spaces apart, numbers aligned to the right. The cells are made safe for a terminal. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const [names = [], ...safeRows] = [header, ...rows].map((cells) => cells.map(safeText));
  const columns = names.map((name, i) => {
    const cells = safeRows.map((row) => row[i] ?? '');
    const width = cells.reduce((most, cell) => Math.max(most, cell.length), name.length);
    const isNumeric = cells.length > 0 && cells.every((cell) => /^-?\d+(\.\d+)?$/.test(cell));
    return (cell: string): string => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  const line = (cells: readonly string[]): string => cells.map((cell, i) => columns[i]!(cell)).join('  ');
  return [names, ...safeRows].map((cells) => `${line(cells).trimEnd()}\n`).join('');
}

/** Under the names of the columns, without the parts that people do not need. */
export function rowsForPeople(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
  parts: RegExp | string = '',
): string {
  const header = columns.map((name) => name.replace(parts, '').replaceAll('_', ' '));
  return formatTable(
    header,
    rows.map((row) => columns.map((name) => String(row[name] ?? ''))),
  );
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

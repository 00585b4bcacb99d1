import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawRequest } from './raw-request.ts';

/** One line of a table of requests. */
export interface HostileCase {
  /** The line as it is written. */
  readonly line: string;
  readonly request: RawRequest;
  readonly status: number;
  /** What must be in the message, or in the answer where that is no fault. */
  readonly said: string;
}

/** The tables are next to their test. */
const TABLES = join(import.meta.dirname, '../../http/hostile');
const METHOD = /^[^ ]+/;

/**
 * The cases of a table: `status | method target | headers, with ";" between | body | text of the message`. A body that begins with
 * `+` is the good body with these members after its own (of equal names the last one counts), with `~a,b` the good body
 * without these. `\xNN` is a byte, `{{text*N}}` the text N times; the target may be followed by another version of HTTP.
 */
export function readCases(name: string, good: Readonly<Record<string, unknown>>): HostileCase[] {
  const text = readFileSync(join(TABLES, name), 'utf8');
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => parseCase(line, good));
}

function parseCase(line: string, good: Readonly<Record<string, unknown>>): HostileCase {
  const parts = line.split(' | ').map((part) => part.trim());
  if (parts.length !== 5) throw new Error(`a case has five parts: ${line}`);
  const [status, call, headers, body, said] = parts as [string, string, string, string, string];
  const [method] = METHOD.exec(call)!;
  const [, target = '', version = 'HTTP/1.1'] = /^ (.*?)(?: (HTTP\/\S+))?$/.exec(call.slice(method.length)) ?? [];
  return {
    line,
    status: Number(status),
    said,
    request: {
      method,
      version,
      target: bytesOf(target),
      headers: headers === '' ? [] : headers.split(' ; ').map(bytesOf),
      body: bytesOf(bodyOf(body, good)),
    },
  };
}

function bodyOf(written: string, good: Readonly<Record<string, unknown>>): string {
  if (written.startsWith('+')) return `${JSON.stringify(good).slice(0, -1)},${written.slice(1)}}`;
  if (!written.startsWith('~')) return written;
  const left = new Set(written.slice(1).split(','));
  return JSON.stringify(Object.fromEntries(Object.entries(good).filter(([name]) => !left.has(name))));
}

/** The bytes of a text as characters below 256. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/\\x([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/\{\{(.*?)\*(\d+)\}\}/gs, (_, repeated: string, times: string) => repeated.repeat(Number(times)));
}

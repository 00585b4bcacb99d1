import type { Context } from 'hono';
import { ExactNumber, endOfString, isDeeperThan, isInt64, NUMBER_CHARS_MAX } from '../json/exact-number.ts';
import { parseErrorAt } from '../json/parse-error.ts';
import { HttpFault } from './routing.ts';

const JSON_TYPE = /^application\/(?:[^\s;,]+\+)?json[ \t]*(?:;|$)/i;
const IDENTITY = /^(identity)?$/i;
/** Throws on what is not UTF-8; a byte order mark is left out. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/**
 * Replaces bytes that are no UTF-8, and then the text's length in UTF-8 differs from that of the bytes, unless all of them are
 * characters cut off after their third byte. Those pass without harm: no field accepts this character either.
 */
const REPLACEMENT = '\ufffd';

/**
 * Reads a request's JSON body. Throws a 415 for a Content-Type that is given and not JSON, or a body that is compressed;
 * a 413 for a body above the limit (never more than that in memory); a 400 for one that is not JSON in UTF-8.
 */
export async function readJsonBody(c: Context, bytesMax: number): Promise<unknown> {
  const type = c.req.header('content-type');
  if (type !== undefined && type !== '' && !JSON_TYPE.test(type))
    throw unsupported('Content-Type', type, 'application/json');
  const coding = contentCoding(c);
  if (coding !== null) throw unsupported('Content-Encoding', coding, 'none');
  return parseJson(await readBodyText(c, bytesMax, (reason) => new HttpFault(400, `body: ${reason}`)));
}

function unsupported(name: string, given: string, expected: string): HttpFault {
  return new HttpFault(415, `${name}: given ${JSON.stringify(given.slice(0, 100))}, expected ${expected}`);
}

/** How a request's body is compressed, which is not supported; null where it is not. */
export function contentCoding(c: Context): string | null {
  const header = c.req.header('content-encoding');
  return header === undefined || IDENTITY.test(header) ? null : header.slice(0, 100);
}

/**
 * The text of a request's body. Throws a 413 above the limit (never reading more than that into memory), and the error of
 * `unreadable` where the body is not UTF-8 or its connection ended early.
 */
export async function readBodyText(
  c: Context,
  bytesMax: number,
  unreadable: (reason: string) => HttpFault,
): Promise<string> {
  const endedEarly = (error: Error): never => {
    throw unreadable(`the connection ended before the body did: ${error.message}`);
  };
  const length = c.req.header('content-length');
  if (length === undefined) {
    const bytes = await readBytes(c.req.raw.body, bytesMax).catch(endedEarly);
    if (bytes === null) throw tooLarge(bytesMax);
    try {
      return utf8.decode(bytes);
    } catch {
      throw unreadable('not UTF-8');
    }
  }
  if (Number(length) > bytesMax) throw tooLarge(bytesMax);
  // Reading its bytes would need a copy, which costs as much as everything else for a usual request.
  const text = await c.req.raw.text().catch(endedEarly);
  // The HTTP parser checks the Content-Length; a request that did not come over a socket may have any.
  if (text.length > bytesMax) throw tooLarge(bytesMax);
  if (text.includes(REPLACEMENT) && Buffer.byteLength(text) !== Number(length)) throw unreadable('not UTF-8');
  return text;
}

/** The connection is closed after the answer, because no more of the body is read. */
function tooLarge(bytesMax: number): HttpFault {
  return new HttpFault(413, `body: larger than ${bytesMax} bytes`, { Connection: 'close' });
}

/** The bytes of a body; null above the limit. Chunks are joined as they come: one of a byte takes a hundred times its size. */
async function readBytes(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array | null> {
  let held = new Uint8Array(0);
  let bytes = 0;
  // Cancelling the body would end its connection, and the answer with it.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    const needed = bytes + chunk.byteLength;
    if (needed > bytesMax) return null;
    if (needed > held.byteLength) held = new Uint8Array(held.buffer.transfer(Math.min(bytesMax, needed * 2)));
    held.set(chunk, bytes);
    bytes = needed;
  }
  return held.subarray(0, bytes);
}

/** Deeper than any request; bounded, because a deep value uses stack. */
const DEPTH_MAX = 64;

/** A double is exact for that many. */
const EXACT_DIGITS_MAX = 15;
const INEXACT_SOURCE = /[.eE]|\d{16}/;

/**
 * Parses the JSON of a request. Integers of 64 bits that a double would round come as bigint. Throws a 400 that says where the
 * text stops being JSON, or that it is nested too deeply.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new HttpFault(400, 'body: given nothing, expected a JSON object');
  if (isDeeperThan(text, DEPTH_MAX)) throw new HttpFault(400, `body: JSON nested deeper than ${DEPTH_MAX} levels`);
  let value: unknown;
  try {
    value = mayBeInexact(text) ? JSON.parse(text, keepExact) : JSON.parse(text);
  } catch (error) {
    throw new HttpFault(400, `body: malformed JSON: ${jsonFault(text, error as Error)}`);
  }
  // It must not be taken for the object that is expected.
  if (value instanceof ExactNumber) throw new HttpFault(400, `body: given ${value.text}, expected a JSON object`);
  return value;
}

/**
 * Whether text has a number with a point, an exponent or more digits than a double is exact for, and so needs a second
 * parse. Strings are skipped. A regular expression for the same takes six times as long.
 */
function mayBeInexact(text: string): boolean {
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code >= 0x30 && code <= 0x39) {
      if (++digits > EXACT_DIGITS_MAX) return true;
      continue;
    } else if (digits > 0 && (code === 0x2e || code === 0x45 || code === 0x65)) return true;
    digits = 0;
  }
  return false;
}

/**
 * A number that is no integer, or has more than 64 bits, is kept as text, which no field accepts. The third argument is a
 * primitive's source text: in Node since 22, and not yet in TypeScript's library.
 */
function keepExact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || !INEXACT_SOURCE.test(source)) return value;
  const exact = new ExactNumber(source);
  const integer = source.length > NUMBER_CHARS_MAX ? null : exact.whole;
  if (integer === null || !isInt64(integer)) return exact;
  return Number.isSafeInteger(value) ? value : integer;
}

/** Escapes become text that no value begins with, in a step of its own: one pattern for both has no stack for very many of them. */
const ESCAPES = /\\["\\/bfnrtu]/g;
/** A string without escapes, or the part of it that is one: it always matches, so that no text takes long. */
const STRINGS = /"[^"\\]*"?/g;
/** No value begins here, after any blanks; `"` also is what is left of a name. */
const NO_VALUE = '[ \\t\\n\\r]*(?![ \\t\\n\\r]|["{[\\d-]|true|false|null)';
/** How far a literal that is none is one. */
const CUT_LITERAL = '(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)?';
/** Where a value belongs, but for an empty list; or an escape that is none. */
const FAULT = new RegExp(`(?:^|[,:]|\\[(?![ \\t\\n\\r]*\\]))${NO_VALUE}${CUT_LITERAL}|\\\\`);

/**
 * Describes text that JSON.parse refuses, with the position. V8 names it itself, except where a value is missing or something
 * else stands for it, and of some escapes: there it quotes the text, or says only that the text ended. The text before that is
 * JSON.
 */
function jsonFault(text: string, error: Error): string {
  if (typeof parseErrorAt(error) === 'number') return error.message;
  const plain = text.replace(ESCAPES, 'xx').replace(STRINGS, (string) => '"'.repeat(string.length));
  const fault = FAULT.exec(plain);
  const at = fault === null ? text.length : fault.index + fault[0].length;
  const character = text.codePointAt(at);
  const found =
    character === undefined
      ? 'Unexpected end of JSON input'
      : `Unexpected token ${JSON.stringify(String.fromCodePoint(character))} in JSON`;
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${found} at position ${at} (line ${lines.length} column ${lines.at(-1)!.length + 1})`;
}

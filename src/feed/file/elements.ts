import { BrokenContainer } from '../source.ts';

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [BRACKET_OPEN, BRACKET_CLOSE, BRACE_OPEN, BRACE_CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];

export interface ContainerElement<Seen = undefined> {
  /** From 1. */
  readonly number: number;
  /** From its first to its last byte, without white space around it. */
  readonly bytes: Buffer;
  /** What was seen in it, where it was looked at. */
  readonly seen: Seen | undefined;
}

/** Reads the value at `at` of the bytes in its own way: what it sees, and where the value ends. Null where it cannot. */
export type Look<Seen> = (at: number) => { readonly seen: Seen; readonly end: number } | null;

/**
 * The elements of a JSON array, or of the `transactions` of a page, without parsing them: an element's content is checked when
 * the update is decoded. Throws BrokenContainer where no further element can be found. `look` takes part in finding the elements.
 */
export function* containerElements<Seen>(
  bytes: Buffer,
  shape: 'array' | 'page',
  look?: Look<Seen>,
): Generator<ContainerElement<Seen>> {
  const cursor: Cursor = { bytes, at: bomLength(bytes) };
  if (shape === 'array') yield* arrayElements(cursor, look);
  else yield* memberElements(cursor, 'transactions', look);
  skipBlanks(cursor);
  if (cursor.at < bytes.length) throw broken(cursor, `nothing after the ${shape}`);
}

/** The elements of the list that an object has under a key. */
export function* listedElements(bytes: Buffer, key: string): Generator<ContainerElement> {
  yield* memberElements({ bytes, at: 0 }, key);
}

export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Bytes of a UTF-8 byte order mark at the start: 3 or 0. */
export function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

function* memberElements<Seen>(cursor: Cursor, listKey: string, look?: Look<Seen>): Generator<ContainerElement<Seen>> {
  let found = false;
  take(cursor, BRACE_OPEN, '{');
  do {
    skipBlanks(cursor);
    const start = cursor.at;
    if (cursor.bytes[start] !== QUOTE) throw broken(cursor, 'a key');
    skipString(cursor);
    const key = cursor.bytes.toString('utf8', start + 1, cursor.at - 1);
    take(cursor, COLON, ':');
    skipBlanks(cursor);
    if (key !== listKey) {
      skipValue(cursor);
    } else {
      if (found) throw broken(cursor, `${listKey} only once`);
      found = true;
      yield* arrayElements(cursor, look);
    }
  } while (takeCommaOr(cursor, BRACE_CLOSE, '}'));
}

function* arrayElements<Seen>(cursor: Cursor, look?: Look<Seen>): Generator<ContainerElement<Seen>> {
  take(cursor, BRACKET_OPEN, '[');
  skipBlanks(cursor);
  if (cursor.bytes[cursor.at] === BRACKET_CLOSE) {
    cursor.at++;
    return;
  }
  let number = 0;
  do {
    skipBlanks(cursor);
    const start = cursor.at;
    const looked = look?.(start);
    if (looked) cursor.at = looked.end;
    else skipValue(cursor);
    yield { number: ++number, bytes: cursor.bytes.subarray(start, cursor.at), seen: looked?.seen };
  } while (takeCommaOr(cursor, BRACKET_CLOSE, ']'));
}

/** Takes a comma (true) or the closing byte (false). */
function takeCommaOr(cursor: Cursor, close: number, shown: string): boolean {
  skipBlanks(cursor);
  const byte = cursor.bytes[cursor.at];
  if (byte !== COMMA && byte !== close) throw broken(cursor, `, or ${shown}`);
  cursor.at++;
  return byte === COMMA;
}

function take(cursor: Cursor, byte: number, shown: string): void {
  skipBlanks(cursor);
  if (cursor.bytes[cursor.at] !== byte) throw broken(cursor, shown);
  cursor.at++;
}

function skipBlanks(cursor: Cursor): void {
  while (isBlank(cursor.bytes[cursor.at])) cursor.at++;
}

/** Moves past the value at the cursor: as many closing as opening brackets, a string, or a word of other characters. */
function skipValue(cursor: Cursor): void {
  const { bytes } = cursor;
  let depth = 0;
  do {
    const byte = bytes[cursor.at];
    if (byte === QUOTE) {
      skipString(cursor);
    } else if (depth === 0 && byte !== BRACE_OPEN && byte !== BRACKET_OPEN) {
      skipWord(cursor);
    } else {
      if (byte === undefined) throw broken(cursor, 'the end of an element');
      if (byte === BRACE_OPEN || byte === BRACKET_OPEN) depth++;
      else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) depth--;
      cursor.at++;
    }
  } while (depth > 0);
}

/** A quote after an odd number of backslashes does not end the string. */
function skipString(cursor: Cursor): void {
  const { bytes } = cursor;
  let quote = cursor.at;
  let backslashes: number;
  do {
    quote = bytes.indexOf(QUOTE, quote + 1);
    cursor.at = quote === -1 ? bytes.length : quote + 1;
    if (quote === -1) throw broken(cursor, 'the end of a string');
    backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
  } while (backslashes % 2 === 1);
}

function skipWord(cursor: Cursor): void {
  const start = cursor.at;
  for (; cursor.at < cursor.bytes.length; cursor.at++) {
    const byte = cursor.bytes[cursor.at]!;
    if (isBlank(byte) || byte === COMMA || byte === BRACKET_CLOSE || byte === BRACE_CLOSE) break;
  }
  if (cursor.at === start) throw broken(cursor, 'a value');
}

function broken({ bytes, at }: Cursor, expected: string): BrokenContainer {
  const found = at >= bytes.length ? 'the file ends' : `found ${JSON.stringify(bytes.toString('utf8', at, at + 20))}`;
  return new BrokenContainer(`byte ${at}`, `${found}, expected ${expected}`);
}

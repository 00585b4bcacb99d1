import { BrokenContainer } from '../source.ts';
import { bomLength, type FileShape, isBlank, PAGE_KEY, stringEnd } from './shape.ts';

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [BRACKET_OPEN, BRACKET_CLOSE, BRACE_OPEN, BRACE_CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Far above what a ledger nests; bounds the memory that a hostile file can use. */
const NESTING_MAX = 100_000;

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
 * The elements of a JSON array, or of the `transactions` of a page, without parsing them: an element's
 * content is checked when the update is decoded. Throws BrokenContainer where no further element can be found. `look` takes part
 * in finding the elements of an array or page.
 */
export function* containerElements<Seen>(
  bytes: Buffer,
  shape: Exclude<FileShape, 'lines'>,
  look?: Look<Seen>,
): Generator<ContainerElement<Seen>> {
  const cursor: Cursor = { bytes, at: bomLength(bytes) };
  if (shape === 'array') yield* arrayElements(cursor, look);
  else if (shape === 'page') yield* pageElements(cursor, PAGE_KEY, look);
  else yield* objectElements(cursor);
  skipBlanks(cursor);
  if (cursor.at < bytes.length) throw broken(cursor, `nothing after the ${shape}`);
}

/** The elements of the list that an object has under a key. */
export function* listedElements(bytes: Buffer, key: string): Generator<ContainerElement> {
  yield* pageElements({ bytes, at: 0 }, key);
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

function* pageElements<Seen>(cursor: Cursor, listKey: string, look?: Look<Seen>): Generator<ContainerElement<Seen>> {
  let found = false;
  take(cursor, BRACE_OPEN, '{');
  do {
    skipBlanks(cursor);
    const key = takeKey(cursor);
    if (key !== listKey) {
      skipValue(cursor);
    } else {
      if (found) throw broken(cursor, `${listKey} only once`);
      found = true;
      yield* arrayElements(cursor, look);
    }
  } while (takeCommaOr(cursor, BRACE_CLOSE, '}'));
}

/** Consecutive objects, as a JSON printer writes them. */
function* objectElements(cursor: Cursor): Generator<ContainerElement<never>> {
  skipBlanks(cursor);
  for (let number = 1; cursor.at < cursor.bytes.length; number++) {
    const start = cursor.at;
    skipValue(cursor);
    yield { number, bytes: cursor.bytes.subarray(start, cursor.at), seen: undefined };
    skipBlanks(cursor);
  }
}

function* arrayElements<Seen>(cursor: Cursor, look?: Look<Seen>): Generator<ContainerElement<Seen>> {
  take(cursor, BRACKET_OPEN, '[');
  skipBlanks(cursor);
  if (cursor.bytes[cursor.at] === BRACKET_CLOSE) {
    cursor.at++;
    return;
  }
  for (let number = 1; ; number++) {
    skipBlanks(cursor);
    const start = cursor.at;
    const looked = look?.(start);
    if (looked) cursor.at = looked.end;
    else skipValue(cursor);
    yield { number, bytes: cursor.bytes.subarray(start, cursor.at), seen: looked?.seen };
    if (!takeCommaOr(cursor, BRACKET_CLOSE, ']')) return;
  }
}

function takeKey(cursor: Cursor): string {
  const start = cursor.at;
  if (cursor.bytes[start] !== QUOTE) throw broken(cursor, 'a key');
  skipString(cursor);
  const key = cursor.bytes.toString('utf8', start + 1, cursor.at - 1);
  take(cursor, COLON, ':');
  skipBlanks(cursor);
  return key;
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
  while (cursor.at < cursor.bytes.length && isBlank(cursor.bytes[cursor.at]!)) cursor.at++;
}

function skipString(cursor: Cursor): void {
  const end = stringEnd(cursor.bytes, cursor.at);
  cursor.at = end === -1 ? cursor.bytes.length : end + 1;
  if (end === -1) throw broken(cursor, 'the end of a string');
}

/** Moves past the value at the cursor: balanced braces and brackets, a string, or a word of other characters. */
function skipValue(cursor: Cursor): void {
  const { bytes } = cursor;
  const closers: number[] = [];
  do {
    const byte = bytes[cursor.at];
    if (byte === QUOTE) skipString(cursor);
    else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      if (closers.push(byte === BRACE_OPEN ? BRACE_CLOSE : BRACKET_CLOSE) > NESTING_MAX) {
        throw broken(cursor, `values nested at most ${NESTING_MAX} deep`);
      }
      cursor.at++;
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      if (closers.pop() !== byte) throw broken(cursor, 'a value with balanced brackets');
      cursor.at++;
    } else if (closers.length === 0) skipWord(cursor);
    else if (byte === undefined) throw broken(cursor, 'the end of an element');
    else cursor.at++;
  } while (closers.length > 0);
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

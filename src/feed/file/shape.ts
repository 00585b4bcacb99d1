/** What a feed file contains, once decompressed. */
export type FileShape = 'lines' | 'array' | 'page' | 'objects';

/** The key of a Scan page that holds its updates. */
export const PAGE_KEY = 'transactions';

/** How far to look for the key of a page; its other keys have short values. */
const LOOK_AHEAD_BYTES = 2 ** 20;

const [LF, QUOTE, COMMA, BACKSLASH] = [0x0a, 0x22, 0x2c, 0x5c];
const [BRACKET_OPEN, BRACKET_CLOSE, BRACE_OPEN, BRACE_CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];

export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === LF || byte === 0x0d || byte === 0x09;
}

/** Bytes of a UTF-8 byte order mark at the start: 3 or 0. */
export function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** Reads as far as needed to see the shape; the `chunks` returned are all bytes, including those. */
export async function peekShape(
  content: AsyncGenerator<Buffer>,
): Promise<{ shape: FileShape; chunks: AsyncGenerator<Buffer> }> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const next = await content.next();
    const complete = next.done === true;
    if (!complete) head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
    const shape = shapeOf(head);
    if (shape !== null || complete || head.length >= LOOK_AHEAD_BYTES) {
      return { shape: shape ?? 'lines', chunks: prepend(head, content) };
    }
  }
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

/**
 * An array starts with a bracket. A page is an object with the key `transactions`; an update, which is an object too,
 * has no such key and ends on its line; objects printed over several lines are elements. Null where more bytes are needed.
 */
function shapeOf(head: Buffer): FileShape | null {
  let start = bomLength(head);
  while (start < head.length && isBlank(head[start]!)) start++;
  if (start === head.length) return null;
  if (head[start] === BRACKET_OPEN) return 'array';
  if (head[start] !== BRACE_OPEN) return 'lines';
  return hasPageKey(head, start);
}

/** Looks for the key in the object at `start`. Only an object with its opening brace alone on a line may span lines. */
function hasPageKey(head: Buffer, start: number): Exclude<FileShape, 'array'> | null {
  let depth = 0;
  let keyNext = false;
  let isPrinted = false;
  let last = start;
  for (let i = start; i < head.length; i++) {
    const byte = head[i]!;
    if (byte === LF) {
      isPrinted ||= last === start;
      if (!isPrinted) return 'lines';
    }
    if (isBlank(byte)) continue;
    last = i;
    if (byte === QUOTE) {
      const end = stringEnd(head, i);
      if (end === -1) return null;
      if (head.subarray(i, end).includes(LF)) return 'lines';
      if (depth === 1 && keyNext && head.toString('latin1', i + 1, end) === PAGE_KEY) return 'page';
      i = end;
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      depth++;
    } else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
      depth--;
      if (depth === 0) return isPrinted ? 'objects' : 'lines';
    }
    keyNext = depth === 1 && (byte === COMMA || byte === BRACE_OPEN);
  }
  return null;
}

/** The place of the quote that ends the string whose opening quote is at `start`; -1 where it does not end. */
export function stringEnd(bytes: Buffer, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return -1;
}

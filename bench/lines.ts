import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** The lines of a file as bytes, read as fast as one thread can. A line is valid until the next is requested. */
export function* linesOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  let rest = Buffer.alloc(0);
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = readSync(file, chunk, 0, CHUNK_BYTES, null);
      if (read === 0) break;
      const bytes = rest.length === 0 ? chunk.subarray(0, read) : Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        if (end > start) yield bytes.subarray(start, end);
        start = end + 1;
      }
      rest = bytes.subarray(start);
    }
    if (rest.length > 0) yield rest;
  } finally {
    closeSync(file);
  }
}

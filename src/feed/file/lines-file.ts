import { once } from 'node:events';
import { closeSync, createWriteStream, existsSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { Refusal } from '../../refusal.ts';

/** How much of the end of a file is looked at: far more than a minute of the real network's updates. */
const TAIL_BYTES = 64 * 2 ** 20;
const [LF, CR, SPACE, OPENING_BRACE] = [0x0a, 0x0d, 0x20, 0x7b];

/** Updates written as lines: to standard output, or to a file that is compressed where its name says so. */
export interface LinesFile {
  /** Waits while what is written is not taken. */
  write(messages: readonly Uint8Array[]): Promise<void>;
  /** Restarts the file; throws where what was written cannot be taken back. */
  clear(): Promise<void>;
  /** Resolves when everything is written. */
  end(): Promise<void>;
}

/** The end of a file that may be continued. */
export interface Tail {
  /** The whole lines; what follows the last of them is half a line. */
  readonly lines: readonly Buffer[];
  /** Where the last whole line ends: the file is continued there. */
  readonly endsAt: number;
}

export function readTail(path: string): Tail {
  if (!existsSync(path)) return { lines: [], endsAt: 0 };
  if (compressionOf(path) !== null)
    throw new Refusal(
      `--output ${path}: is there already, and a compressed file cannot be continued; name another one`,
    );
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(LF) + 1;
    if (end === 0 && (size > TAIL_BYTES || (size > 0 && tail[0] !== OPENING_BRACE)))
      throw new Refusal(`--output ${path}: ends with no line of a feed; name another one`);
    const start = tail.length === size ? 0 : tail.indexOf(LF) + 1;
    return { lines: linesOf(tail.subarray(start, end)), endsAt: size - tail.length + end };
  } finally {
    closeSync(file);
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start);
    if (end > start) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function compressionOf(path: string): 'gzip' | 'zstd' | null {
  if (path.endsWith('.gz')) return 'gzip';
  return path.endsWith('.zst') ? 'zstd' : null;
}

/** Null: standard output. A file is continued at the end of its last whole line. */
export function openLinesFile(path: string | null, stdout: Writable, endsAt: number): LinesFile {
  if (path !== null && existsSync(path) && compressionOf(path) === null) truncateSync(path, endsAt);
  let out: Output = path === null ? { into: stdout, done: Promise.resolve(), failed: null } : openOutput(path, 'a');

  return {
    async write(messages) {
      for (const message of messages) {
        if (out.into.write(lineOf(message))) continue;
        try {
          await once(out.into, 'drain', { signal: out.failed ?? undefined });
        } catch (error) {
          // It says why.
          await out.done;
          throw error;
        }
      }
    },
    async clear() {
      if (path === null)
        throw new Error('the snapshot import has to restart, and what was written of it cannot be taken back');
      out.into.end();
      await out.done;
      out = openOutput(path, 'w');
    },
    async end() {
      if (path !== null) out.into.end();
      await out.done;
    },
  };
}

interface Output {
  readonly into: Writable;
  /** When everything is written; rejects with what went wrong. */
  readonly done: Promise<void>;
  /** Aborts then: a stream that has failed never drains. Null for standard output. */
  readonly failed: AbortSignal | null;
}

function openOutput(path: string, flags: 'a' | 'w'): Output {
  const file = createWriteStream(path, { flags });
  const compression = compressionOf(path);
  if (compression === null) return outputOf(file, named(finished(file), path));
  const packing = compression === 'gzip' ? createGzip() : createZstdCompress();
  return outputOf(packing, named(pipeline(packing, file), path));
}

/** The system's errors of writing name no file. */
function named(done: Promise<void>, path: string): Promise<void> {
  return done.catch((error: Error) => {
    throw Object.assign(error, { path });
  });
}

function outputOf(into: Writable, done: Promise<void>): Output {
  const failing = new AbortController();
  done.catch(() => failing.abort());
  return { into, done, failed: failing.signal };
}

/** A message may be printed over several lines. White space within its strings is always escaped. */
function lineOf(message: Uint8Array): Buffer {
  const line = Buffer.concat([message, Buffer.of(LF)]);
  for (let i = 0; i < line.length - 1; i++) if (line[i] === LF || line[i] === CR) line[i] = SPACE;
  return line;
}

import { accessSync, close, constants, fstat, open, read, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { promisify } from 'node:util';
import { isMachineError } from '../../machine-errors.ts';
import { Refusal } from '../../refusal.ts';
import { CONTAINER_BYTES_MAX, LINE_BYTES_MAX, OVERLONG_HEAD_BYTES } from '../limits.ts';
import type { Message, Source, SourceKind } from '../source.ts';
import { decompressed, peek } from './decompress.ts';
import { containerBatches, FILE_LANE, lineBatches, type MessageLimits } from './file-messages.ts';

const STANDARD_INPUT = 0;
/** Opens a pipe without waiting for its writer. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;
/**
 * Buffers that are reused: one is read ahead, and a reader may look at the last chunk together with the one after it.
 * A new buffer for each read would make the garbage collector run ten times as often.
 */
const BUFFERS = 3;
/** How far to look for the first character that is not blank. */
const LOOK_AHEAD_BYTES = 2 ** 20;

export interface FileSource extends Source<never> {
  /** The file's name, `-` for standard input. */
  readonly name: string;
  batches(signal: AbortSignal): AsyncIterable<readonly Message[]>;
}

export interface FileOptions extends Partial<MessageLimits> {
  /** How much is read at once, which is about the size of a batch. */
  readonly chunkBytes?: number;
  /** A message's bytes are valid only until the next batch is requested; otherwise they stay. */
  readonly reuseBuffers?: boolean;
  /** Only the first bytes of the content, decompressed; the message or container in which they end is cut off there. */
  readonly headBytes?: number;
}

const USUAL: Required<FileOptions> = {
  lineBytesMax: LINE_BYTES_MAX,
  overlongHeadBytes: OVERLONG_HEAD_BYTES,
  containerBytesMax: CONTAINER_BYTES_MAX,
  chunkBytes: 2 ** 20,
  reuseBuffers: false,
  headBytes: Number.POSITIVE_INFINITY,
};

/** A file is read from its start each time: what was applied before is a redelivery. */
export const FILE_KIND: SourceKind<{ readonly path: string }, never> = {
  kind: FILE_LANE,
  resumes: false,
  locationOf: ({ offset }) => ({ partition: null, message: offset }),
  // The feed thread copies a batch before it requests the next one.
  open: async ({ path }) => openFileSource(path, { reuseBuffers: true }),
  status(name, { lanes, progress, isAtEnd }) {
    const { read = null, total = null } = progress ?? {};
    const resumeToken = lanes.get(FILE_LANE)?.resumeToken;
    const next = resumeToken === undefined ? null : Number(resumeToken);
    const left = read === null || total === null ? null : total - read;
    const lagBytes = isAtEnd ? 0 : left;
    return {
      stopped: `${name} is not read to its end yet`,
      blocking: [],
      caughtUpAt: null,
      lagMessages: null,
      lagBytes,
      lagSeconds: isAtEnd ? 0 : null,
      positions: next === null ? {} : { [FILE_LANE]: next },
      details: { position: { next_message: next }, read_bytes: read, total_bytes: total, lag_bytes: lagBytes },
    };
  },
};

/**
 * A feed file, or standard input for `-`: one update per line, a JSON array of updates or a Scan page, each of them plain,
 * gzip or zstd; recognized by the first bytes, never by the name. Throws a Refusal where there is nothing to read.
 */
export function openFileSource(path: string, options: FileOptions = {}): FileSource {
  const all = { ...USUAL, ...options, path };
  const total = readableSize(path);
  let read = 0;
  async function* counted(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    read = 0;
    for await (const chunk of chunks) {
      read += chunk.length;
      yield chunk;
    }
  }
  return {
    name: path,
    batches: (signal) => batches(counted(fileChunks(all, signal)), all, signal),
    progress: () => ({ read, total }),
  };
}

/** The size of a regular file, null for what has none, such as a pipe or standard input (`-`). Throws a Refusal. */
export function readableSize(path: string): number | null {
  if (path === '-') return null;
  const unusable = (reason: string, cause?: unknown): Refusal => new Refusal(`feed file ${path} ${reason}`, { cause });
  let stat: ReturnType<typeof statSync>;
  try {
    stat = statSync(path);
    accessSync(path, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw unusable('does not exist', error);
    if (isMachineError(error, 'outOfFiles')) throw error;
    throw unusable(`cannot be read (${code ?? String(error)})`, error);
  }
  if (stat.isDirectory()) throw unusable('is a directory; name the feed files in it');
  return stat.isFile() ? stat.size : null;
}

type AllOptions = Required<FileOptions> & { readonly path: string };

/** An abort is a clean end, but not the end of the file: a line cut by it is not returned. */
async function* batches(
  bytes: AsyncGenerator<Buffer>,
  options: AllOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Message[]> {
  try {
    const content = firstBytes(decompressed(bytes), options.headBytes);
    const textOf = (head: Buffer): string => head.toString('utf8', 0, LOOK_AHEAD_BYTES);
    const isEnough = (head: Buffer): boolean => head.length >= LOOK_AHEAD_BYTES || !UNDECIDED.test(textOf(head));
    const { head, all } = await peek(content, isEnough);
    const shape = shapeOf(textOf(head), options.path);
    const found = shape === 'lines' ? lineBatches(all, options) : containerBatches(all, { ...options, shape });
    for await (const batch of found) {
      // A small compressed file may hold very many of them after the bytes that were read last.
      if (signal.aborted) return;
      yield batch;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    // A consumer that stops early may not have started the generator that closes the descriptor.
    await bytes.return(undefined);
  }
}

async function* firstBytes(content: AsyncGenerator<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let left = bytesMax;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

/** `\s` is also the byte order mark. */
const PAGE = /^\s*\{\s*"transactions"\s*:/;
const UNDECIDED = /^\s*(\{\s*("[a-z]*"?\s*)?)?$/;
const PRINTED = /^\s*\{[ \t\r]*\n/;

/** An array begins with a bracket, a page with the key `transactions`. Throws a Refusal for objects printed over several lines. */
function shapeOf(head: string, path: string): 'lines' | 'array' | 'page' {
  if (head.trimStart().startsWith('[')) return 'array';
  if (PAGE.test(head)) return 'page';
  if (!PRINTED.test(head)) return 'lines';
  throw new Refusal(
    `feed file ${path} has JSON printed over several lines, expected one update per line, an array or a Scan page; convert it: jq -c .`,
  );
}

/**
 * The file's bytes as they are, at most `chunkBytes` at once. Throws the signal's reason when aborted. By descriptor, because a worker
 * thread has no standard input of its own.
 */
async function* fileChunks(options: AllOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const { path } = options;
  const fd = path === '-' ? STANDARD_INPUT : await promisify(open)(path, READ_AT_ONCE);
  const stat = await promisify(fstat)(fd);
  const isTerminal = isatty(fd);
  if (!stat.isFIFO() && !stat.isSocket() && !isTerminal) return yield* storedChunks(fd, options, signal);
  // A read of a pipe or terminal waits until something is written, and a thread cannot end while a read is pending.
  const stream = isTerminal ? new ReadStream(fd) : new Socket({ fd, readable: true, writable: false });
  try {
    yield* addAbortSignal(signal, stream);
  } finally {
    // A socket closes its descriptor; a terminal's stream opens another one, and closes only that.
    if (isTerminal && fd !== STANDARD_INPUT) await promisify(close)(fd);
  }
}

/** With one chunk of read-ahead. A chunk of reused buffers is valid until the next but one is requested. */
async function* storedChunks(
  fd: number,
  { chunkBytes, reuseBuffers }: AllOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const reused = Array.from({ length: reuseBuffers ? BUFFERS : 0 }, () => Buffer.allocUnsafeSlow(chunkBytes));
  let count = 0;
  const readAhead = (): Promise<Buffer> => {
    const buffer = reused[count++ % BUFFERS] ?? Buffer.allocUnsafeSlow(chunkBytes);
    const reading = promisify(read)(fd, buffer, 0, chunkBytes, null).then((done) => buffer.subarray(0, done.bytesRead));
    // Its error is thrown when the chunk is awaited.
    reading.catch(() => undefined);
    return reading;
  };
  let next = readAhead();
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunk = await next;
      if (chunk.length === 0) return;
      next = readAhead();
      yield chunk;
    }
  } finally {
    // The descriptor is closed only after a pending read, which otherwise might read another file.
    await next.catch(() => undefined);
    if (fd !== STANDARD_INPUT) await promisify(close)(fd);
  }
}

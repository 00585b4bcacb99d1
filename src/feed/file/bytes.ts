import { close, constants, fstat, open, read } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { promisify } from 'node:util';

const STANDARD_INPUT = 0;
/** Opens a pipe without waiting for its writer. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const readFile = promisify(read);

export interface FileBytes {
  /** The file's bytes as they are, at most `chunkBytes` at once. Throws the signal's reason when aborted. */
  chunks(signal: AbortSignal): AsyncGenerator<Buffer>;
  /** Bytes returned so far. */
  read(): number;
}

/**
 * Where buffers are reused: one is read ahead, and a reader may look at the last chunk together with the one after it.
 * A buffer for each would count with the garbage that is collected, and have it collected ten times as often.
 */
const BUFFERS = 3;

export interface FileBytesOptions {
  readonly path: string;
  readonly chunkBytes: number;
  /** A chunk is valid until the next but one is requested; otherwise each is a new buffer. */
  readonly reuseBuffers: boolean;
}

/** By descriptor: a worker thread has no standard input of its own. */
export function openFileBytes(file: FileBytesOptions): FileBytes {
  let handedOut = 0;
  async function* chunks(signal: AbortSignal): AsyncGenerator<Buffer> {
    const fd = file.path === '-' ? STANDARD_INPUT : await openFile(file.path, READ_AT_ONCE);
    const all = (await mayKeepWaiting(fd)) ? arrivingChunks(fd, signal) : storedChunks(fd, file, signal);
    handedOut = 0;
    for await (const chunk of all) {
      handedOut += chunk.length;
      yield chunk;
    }
  }
  return { chunks, read: () => handedOut };
}

/** A read of a pipe or terminal waits until something is written, and a thread cannot end while a read is pending. */
async function mayKeepWaiting(fd: number): Promise<boolean> {
  const stat = await statFile(fd);
  return stat.isFIFO() || stat.isSocket() || isatty(fd);
}

/** What others write, as it comes; waits for a pipe that has no writer yet. */
async function* arrivingChunks(fd: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const isTerminal = isatty(fd);
  const stream = isTerminal ? new ReadStream(fd) : new Socket({ fd, readable: true, writable: false });
  try {
    yield* addAbortSignal(signal, stream);
  } finally {
    // A socket closes its descriptor; a terminal's stream opens another one, and closes only that.
    if (isTerminal && fd !== STANDARD_INPUT) await closeFile(fd);
  }
}

/** With one chunk of read-ahead. */
async function* storedChunks(fd: number, file: FileBytesOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const nextBuffer = buffersFor(file);
  let next = readAhead(fd, nextBuffer());
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunk = await next;
      if (chunk.length === 0) return;
      next = readAhead(fd, nextBuffer());
      yield chunk;
    }
  } finally {
    // The descriptor is closed only after a pending read, which otherwise might read another file.
    await next.catch(() => undefined);
    if (fd !== STANDARD_INPUT) await closeFile(fd);
  }
}

function buffersFor({ chunkBytes, reuseBuffers }: FileBytesOptions): () => Buffer {
  const reused: Buffer[] = [];
  let taken = 0;
  return () => {
    if (!reuseBuffers) return Buffer.allocUnsafeSlow(chunkBytes);
    const at = taken++ % BUFFERS;
    reused[at] ??= Buffer.allocUnsafeSlow(chunkBytes);
    return reused[at];
  };
}

/** A read-ahead that fails is no unhandled rejection: its error is thrown when the chunk is awaited. */
function readAhead(fd: number, buffer: Buffer): Promise<Buffer> {
  const reading = readChunk(fd, buffer);
  reading.catch(() => undefined);
  return reading;
}

/** Empty at the end of the file. */
async function readChunk(fd: number, buffer: Buffer): Promise<Buffer> {
  const { bytesRead } = await readFile(fd, buffer, 0, buffer.length, null);
  return buffer.subarray(0, bytesRead);
}

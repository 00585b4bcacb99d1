import { close, constants, fstat, open, read } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { promisify } from 'node:util';

const STANDARD_INPUT = 0;
/** Does not wait for a pipe's writer. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const readFile = promisify(read);

export interface FileBytes {
  /** The bytes as they lie in the file, at most `chunkBytes` at once. Throws the signal's reason when aborted. */
  chunks(signal: AbortSignal): AsyncGenerator<Buffer>;
  /** Bytes handed out so far. */
  read(): number;
}

/** Each chunk has memory of its own: messages are parts of it. By descriptor, because a worker thread has no standard input of its own. */
export function openFileBytes(file: { path: string; chunkBytes: number }): FileBytes {
  let handedOut = 0;
  async function* chunks(signal: AbortSignal): AsyncGenerator<Buffer> {
    const fd = file.path === '-' ? STANDARD_INPUT : await openFile(file.path, READ_AT_ONCE);
    const all = (await mayKeepWaiting(fd)) ? arrivingChunks(fd, signal) : storedChunks(fd, file.chunkBytes, signal);
    handedOut = 0;
    for await (const chunk of all) {
      handedOut += chunk.length;
      yield chunk;
    }
  }
  return { chunks, read: () => handedOut };
}

/** A read of these waits until somebody writes, and a thread cannot end while one of its reads is under way. */
async function mayKeepWaiting(fd: number): Promise<boolean> {
  const stat = await statFile(fd);
  return stat.isFIFO() || stat.isSocket() || isatty(fd);
}

/** What others write, as it comes; a pipe that nobody has opened for writing yet is waited for. */
async function* arrivingChunks(fd: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const isTerminal = isatty(fd);
  const stream = isTerminal ? new ReadStream(fd) : new Socket({ fd, readable: true, writable: false });
  try {
    yield* addAbortSignal(signal, stream);
  } finally {
    // A socket closes its descriptor; a terminal is opened again by its stream, which closes that one only.
    if (isTerminal && fd !== STANDARD_INPUT) await closeFile(fd);
  }
}

/** With one chunk of read-ahead. */
async function* storedChunks(fd: number, chunkBytes: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  let next = readAhead(fd, chunkBytes);
  try {
    for (;;) {
      signal.throwIfAborted();
      const chunk = await next;
      if (chunk.length === 0) return;
      next = readAhead(fd, chunkBytes);
      yield chunk;
    }
  } finally {
    // A descriptor is closed only after the read under way, or that one might read another file.
    await next.catch(() => undefined);
    if (fd !== STANDARD_INPUT) await closeFile(fd);
  }
}

/** A read that fails ahead of time is no unhandled rejection: its error counts when its turn comes. */
function readAhead(fd: number, chunkBytes: number): Promise<Buffer> {
  const reading = readChunk(fd, chunkBytes);
  reading.catch(() => undefined);
  return reading;
}

/** Empty at the end of the file. */
async function readChunk(fd: number, chunkBytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  const { bytesRead } = await readFile(fd, buffer, 0, chunkBytes, null);
  return buffer.subarray(0, bytesRead);
}

import { close, open, read } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const STANDARD_INPUT = 0;
/** How long to wait for a standard input that was made non-blocking and has nothing yet. */
const EMPTY_INPUT_WAIT_MS = 10;

const openFile = promisify(open);
const closeFile = promisify(close);

export interface FileBytes {
  /** The bytes as they lie in the file, at most `chunkBytes` at once. Throws the signal's reason when aborted. */
  chunks(signal: AbortSignal): AsyncGenerator<Buffer>;
  /** Bytes handed out so far. */
  read(): number;
}

/**
 * Reads with one chunk of read-ahead. By descriptor and not as a stream, because a worker thread has no standard input
 * of its own, and each chunk has memory of its own: messages are parts of it.
 */
export function openFileBytes(file: { path: string; total: number | null; chunkBytes: number }): FileBytes {
  let handedOut = 0;
  async function* chunks(signal: AbortSignal): AsyncGenerator<Buffer> {
    const fd = file.path === '-' ? STANDARD_INPUT : await openFile(file.path, 'r');
    handedOut = 0;
    let next = readAhead(fd, file.chunkBytes);
    try {
      for (;;) {
        const chunk = await unlessAborted(signal, next);
        if (chunk.length === 0) return;
        handedOut += chunk.length;
        next = readAhead(fd, file.chunkBytes);
        yield chunk;
      }
    } finally {
      if (fd !== STANDARD_INPUT) void closeAfter(next, fd);
    }
  }
  return { chunks, read: () => handedOut };
}

/** Not Promise.race against one promise for the whole file: that promise would keep every chunk alive. */
function unlessAborted(signal: AbortSignal, reading: Promise<Buffer>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    reading.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * A descriptor is closed only after the read under way, or that one might read another file. Nobody waits for it: a pipe
 * may never deliver again.
 */
async function closeAfter(reading: Promise<Buffer>, fd: number): Promise<void> {
  await reading.catch(() => undefined);
  await closeFile(fd);
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
  for (;;) {
    const length = await readInto(fd, buffer);
    if (length !== null) return buffer.subarray(0, length);
    await setTimeout(EMPTY_INPUT_WAIT_MS);
  }
}

function readInto(fd: number, buffer: Buffer): Promise<number | null> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, null, (error, length) => {
      if (error === null) resolve(length);
      else if (error.code === 'EAGAIN') resolve(null);
      else reject(error);
    });
  });
}

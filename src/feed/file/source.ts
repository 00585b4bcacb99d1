import { CONTAINER_BYTES_MAX, LINE_BYTES_MAX, OVERLONG_HEAD_BYTES } from '../limits.ts';
import type { Message, Source } from '../source.ts';
import { openFileBytes } from './bytes.ts';
import { containerBatches } from './container.ts';
import { decompressed } from './decompress.ts';
import { lineBatches } from './lines.ts';
import { peekShape } from './shape.ts';
import { readableSize } from './unusable-file.ts';

export interface FileSource extends Source<never> {
  /** The file's name, `-` for standard input. */
  readonly name: string;
  batches(signal: AbortSignal): AsyncIterable<readonly Message[]>;
}

export interface FileOptions {
  readonly lineBytesMax?: number;
  readonly overlongHeadBytes?: number;
  readonly containerBytesMax?: number;
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

/**
 * A feed file, or standard input for `-`: one update per line, a JSON array of updates or a Scan page, each of them plain,
 * gzip or zstd; recognized by the first bytes, never by the name. Throws UnusableFile where there is nothing to read.
 */
export function openFileSource(path: string, options: FileOptions = {}): FileSource {
  const all = { ...USUAL, ...options, path };
  const total = readableSize(path);
  const file = openFileBytes(all);
  return {
    name: path,
    batches: (signal) => untilAborted(signal, batches(file.chunks(signal), all)),
    progress: () => ({ read: file.read(), total }),
  };
}

/** An abort is a clean end, but not the end of the file: a line cut by it is not returned. */
async function* untilAborted(
  signal: AbortSignal,
  all: AsyncGenerator<readonly Message[]>,
): AsyncGenerator<readonly Message[]> {
  try {
    for await (const batch of all) {
      // A small compressed file may hold very many of them after the bytes that were read last.
      if (signal.aborted) return;
      yield batch;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function* batches(
  bytes: AsyncGenerator<Buffer>,
  options: Required<FileOptions> & { path: string },
): AsyncGenerator<readonly Message[]> {
  try {
    const { shape, chunks } = await peekShape(firstBytes(decompressed(bytes), options.headBytes));
    if (shape === 'lines') yield* lineBatches(chunks, options);
    else yield* containerBatches(chunks, { ...options, shape });
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

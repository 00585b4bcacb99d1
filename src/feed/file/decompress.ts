import { createGunzip, createZstdDecompress } from 'node:zlib';
import { BrokenContainer } from '../source.ts';

const MAGIC_BYTES = 4;
const GZIP_MAGIC = /^1f8b/;
/** Of a frame with data, and of a skippable one. */
const ZSTD_MAGIC = /^(28b52ffd|5.2a4d18)/;
/** Compressed bytes given to the decompressor at once: bounds what it returns for them. */
const PIECE_BYTES = 64 * 2 ** 10;
const OUTPUT_BYTES = 256 * 2 ** 10;
/** What zlib says of bytes after a gzip member that are no further member; its code is the same for all bad data. */
const BETWEEN_MEMBERS = 'incorrect header check';
/** The checksum at the end of a complete member or frame covers each byte; of one that is cut off, all that came may be good. */
const MAY_BE_ALTERED =
  '; lines before that may have been altered without notice: build the views again from the repaired file in another directory';

type Codec = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>;

/**
 * The content of a file that is plain, gzip or zstd, as its first bytes show; gzip may have several members and zstd several
 * frames. Throws BrokenContainer after what zlib returned before the break. Its last output before that is lost: nothing
 * distinguishes it from altered bytes.
 */
export async function* decompressed(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { head, all } = await peek(chunks, ({ length }) => length >= MAGIC_BYTES);
  const magic = head.toString('hex', 0, MAGIC_BYTES);
  if (GZIP_MAGIC.test(magic)) yield* decompress(all, 'gzip', () => createGunzip({ chunkSize: OUTPUT_BYTES }));
  else if (ZSTD_MAGIC.test(magic))
    yield* decompress(all, 'zstd', () => createZstdDecompress({ chunkSize: OUTPUT_BYTES }));
  else yield* all;
}

/** Reads until the head is long enough; `all`: all bytes, those of the head included. */
export async function peek(
  chunks: AsyncGenerator<Buffer>,
  isEnough: (head: Buffer) => boolean,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer> }> {
  let head: Buffer = Buffer.alloc(0);
  while (!isEnough(head)) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return { head, all: prepend(head, chunks) };
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

async function* decompress(input: AsyncGenerator<Buffer>, format: string, create: () => Codec): AsyncGenerator<Buffer> {
  let step: ReturnType<typeof openCodec> | null = null;
  let [taken, handedOut] = [0, 0];
  async function* take(piece: Buffer | null): AsyncGenerator<Buffer, number> {
    step ??= openCodec(create());
    const { output, length, ended, error } = await step(piece);
    for (const part of output) {
      handedOut += part.length;
      yield part;
    }
    if (error !== null) {
      const isVouchedFor = handedOut === 0 || error.code === 'Z_BUF_ERROR' || error.message === BETWEEN_MEMBERS;
      const reason = `the ${format} data cannot be read further: ${error.message}${isVouchedFor ? '' : MAY_BE_ALTERED}`;
      throw new BrokenContainer(`byte ${taken}`, reason);
    }
    taken += length;
    if (ended) [step, handedOut] = [null, 0];
    return length;
  }
  for await (const chunk of input)
    for (let at = 0; at < chunk.length; ) at += yield* take(chunk.subarray(at, at + PIECE_BYTES));
  if (step !== null) yield* take(null);
}

/**
 * Gives the codec a piece, or the end of all, and returns what came of it. Node's codecs stop silently after a zstd frame, and
 * before zero bytes after a gzip member: `length` says how many bytes of the piece were used.
 */
function openCodec(codec: Codec) {
  let output: Buffer[] = [];
  let ended = false;
  let error: NodeJS.ErrnoException | null = null;
  let settle = (): void => undefined;
  codec.on('data', (part: Buffer) => output.push(part));
  codec.on('end', () => {
    ended = true;
    settle();
  });
  codec.on('error', (reason) => {
    error = reason;
    settle();
  });
  return async (piece: Buffer | null) => {
    output = [];
    const before = codec.bytesWritten;
    await new Promise<void>((resolve) => {
      settle = resolve;
      if (piece === null) codec.end();
      else codec.write(piece, () => resolve());
    });
    return { output, length: codec.bytesWritten - before, ended, error };
  };
}

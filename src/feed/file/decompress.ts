import { createGunzip, createZstdDecompress } from 'node:zlib';
import { BrokenContainer } from '../source.ts';

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** A zstd frame without data has one of several first bytes (0x50 to 0x5f), and then these. */
const ZSTD_SKIPPABLE_MAGIC = Buffer.from([0x2a, 0x4d, 0x18]);
const MAGIC_BYTES = 4;
/** Compressed bytes given to the decompressor at once, at fixed places, so that a broken file always breaks at the same place. */
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
 * frames. Throws BrokenContainer after what zlib returned before the break. Its last output before that is lost, and could
 * not be told from altered bytes.
 */
export async function* decompressed(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const head = await firstBytes(chunks, MAGIC_BYTES);
  if (head.subarray(0, 2).equals(GZIP_MAGIC)) {
    yield* decompress(pieces(head, chunks), 'gzip', () => createGunzip({ chunkSize: OUTPUT_BYTES }));
  } else if (head.subarray(0, 4).equals(ZSTD_MAGIC) || isSkippableFrame(head)) {
    yield* decompress(pieces(head, chunks), 'zstd', () => createZstdDecompress({ chunkSize: OUTPUT_BYTES }));
  } else {
    if (head.length > 0) yield head;
    yield* chunks;
  }
}

function isSkippableFrame(head: Buffer): boolean {
  return (head[0] ?? 0) >> 4 === 5 && head.subarray(1, 4).equals(ZSTD_SKIPPABLE_MAGIC);
}

/** Takes at least `length` bytes from the start, or all where there are fewer. */
async function firstBytes(chunks: AsyncGenerator<Buffer>, length: number): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

/** The bytes cut at multiples of PIECE_BYTES, however a pipe delivered them. */
async function* pieces(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let left = head;
  for (;;) {
    let start = 0;
    for (; left.length - start >= PIECE_BYTES; start += PIECE_BYTES) yield left.subarray(start, start + PIECE_BYTES);
    left = left.subarray(start);
    const next = await rest.next();
    if (next.done === true) break;
    left = Buffer.concat([left, next.value]);
  }
  if (left.length > 0) yield left;
}

async function* decompress(
  input: AsyncGenerator<Buffer>,
  format: 'gzip' | 'zstd',
  create: () => Codec,
): AsyncGenerator<Buffer> {
  let codec: StepOfCodec | null = null;
  let taken = 0;
  let handedOut = 0;
  const brokenAt = (error: NodeJS.ErrnoException): BrokenContainer => {
    const isVouchedFor = handedOut === 0 || error.code === 'Z_BUF_ERROR' || error.message === BETWEEN_MEMBERS;
    const altered = isVouchedFor ? '' : MAY_BE_ALTERED;
    return new BrokenContainer(
      `byte ${taken}`,
      `the ${format} data cannot be read further: ${error.message}${altered}`,
    );
  };
  for await (const piece of input) {
    for (let rest = piece; rest.length > 0; ) {
      if (codec === null && format === 'gzip') {
        const padding = paddingLength(rest);
        taken += padding;
        rest = rest.subarray(padding);
        if (rest.length === 0) break;
      }
      codec ??= openCodec(create());
      const step = await codec(rest);
      for (const part of step.output) {
        handedOut += part.length;
        yield part;
      }
      if (step.error !== null) throw brokenAt(step.error);
      taken += step.taken;
      rest = rest.subarray(step.taken);
      if (!step.ended) continue;
      codec = null;
      handedOut = 0;
    }
  }
  if (codec === null) return;
  const last = await codec(null);
  yield* last.output;
  if (last.error !== null) throw brokenAt(last.error);
}

/** Zero bytes between gzip members are padding. */
function paddingLength(piece: Buffer): number {
  const start = piece.findIndex((byte) => byte !== 0);
  return start === -1 ? piece.length : start;
}

interface Step {
  readonly output: readonly Buffer[];
  /** Bytes of the piece that were used. Fewer than given where a member or frame ended within it. */
  readonly taken: number;
  readonly ended: boolean;
  readonly error: Error | null;
}

/** Gives the codec a piece, or the end of all. */
type StepOfCodec = (piece: Buffer | null) => Promise<Step>;

/**
 * One step at a time: the codec gets the next piece only after its output was taken, which bounds what is in memory.
 * Node's zstd stops silently after the first frame and drops the rest of the piece: `taken` shows where the caller continues.
 */
function openCodec(codec: Codec): StepOfCodec {
  let output: Buffer[] = [];
  let ended = false;
  let error: Error | null = null;
  let settle = (): void => undefined;
  codec.on('data', (chunk: Buffer) => output.push(chunk));
  codec.on('end', () => {
    ended = true;
    settle();
  });
  codec.on('error', (reason) => {
    error = reason;
    settle();
  });
  return async (piece) => {
    const before = codec.bytesWritten;
    await new Promise<void>((resolve) => {
      settle = resolve;
      if (piece === null) codec.end();
      else
        codec.write(piece, (reason) => {
          error ??= reason ?? null;
          resolve();
        });
    });
    const result = { output, taken: codec.bytesWritten - before, ended, error };
    output = [];
    return result;
  };
}

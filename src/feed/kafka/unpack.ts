import { promisify } from 'node:util';
import { unzip, zstdDecompress } from 'node:zlib';
import { decompressFrame } from 'lz4-napi';
import { uncompressSync } from 'snappy';

/**
 * The memory that a batch may take: eight messages of the longest that are applied. Producers fill batches of 16 KiB to 1 MiB,
 * and a few KiB of zstd may stand for gigabytes.
 */
export const UNPACKED_BYTES_MAX = 128 * 2 ** 20;

type Unpack = (bytes: Buffer) => Promise<Buffer>;

/** By the number in a batch's attributes. Each throws where the bytes unpack to more than `UNPACKED_BYTES_MAX`. */
export const CODECS: Readonly<Record<number, Unpack>> = {
  0: async (bytes) => bytes,
  1: withZlib(promisify(unzip)),
  2: unpackSnappy,
  3(bytes) {
    checkUnpacked(lz4LengthMax(bytes));
    return decompressFrame(bytes);
  },
  4: withZlib(promisify(zstdDecompress)),
};

/** Throws where a batch takes too much memory. */
export function checkUnpacked(bytes: number): void {
  if (bytes > UNPACKED_BYTES_MAX) throw new Error(`it takes more than ${UNPACKED_BYTES_MAX / 2 ** 20} MiB unpacked`);
}

function withZlib(unpack: (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>): Unpack {
  return (bytes) =>
    unpack(bytes, { maxOutputLength: UNPACKED_BYTES_MAX }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') checkUnpacked(Infinity);
      throw error;
    });
}

/** Java clients frame Snappy blocks (the xerial format): a header of 16 bytes, then each block, preceded by its length. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

async function unpackSnappy(bytes: Buffer): Promise<Buffer> {
  const isFramed = bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC);
  const blocks = isFramed ? [] : [bytes];
  for (let at = XERIAL_HEADER_BYTES; isFramed && at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  checkUnpacked(blocks.reduce((sum, block) => sum + snappyLength(block), 0));
  return Buffer.concat(blocks.map((block) => uncompressSync(block, { asBuffer: true }) as Buffer));
}

/** The length that a block states first, seven bits a byte; it unpacks to no other. */
function snappyLength(block: Buffer): number {
  const last = block.findIndex((byte) => byte < 0x80);
  return block.subarray(0, last + 1).reduce((sum, byte, i) => sum + (byte & 0x7f) * 2 ** (7 * i), 0);
}

const LZ4 = {
  magic: 0x184d2204,
  contentLengthFlag: 0x08,
  dictionaryFlag: 0x01,
  blockChecksumFlag: 0x10,
  ratioMax: 255,
};

/** The most that an LZ4 frame unpacks to, which need not state it: all of its blocks are full, or packed as far as can be. */
function lz4LengthMax(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== LZ4.magic) throw new Error('it is no LZ4 frame');
  const flags = frame.readUInt8(4);
  const blockBytes = 2 ** (8 + ((frame.readUInt8(5) >>> 3) & 0xe));
  let at = 7 + (flags & LZ4.contentLengthFlag ? 8 : 0) + (flags & LZ4.dictionaryFlag ? 4 : 0);
  let lengthMax = 0;
  for (;;) {
    // The highest bit says that the block is not packed.
    const packed = frame.readUInt32LE(at) & 0x7fffffff;
    if (packed === 0) return lengthMax;
    lengthMax += Math.min(blockBytes, packed * LZ4.ratioMax);
    at += 4 + packed + (flags & LZ4.blockChecksumFlag ? 4 : 0);
  }
}

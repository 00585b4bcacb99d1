import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type * as KafkaJs from 'kafkajs';
import { compressFrame, decompressFrame } from 'lz4-napi';
import { compress, uncompress } from 'snappy';

/** A codec as kafkajs wants it; it passes an encoder to compress, and bytes to decompress. */
interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

const zstd: Codec = {
  compress: ({ buffer }) => promisify(zstdCompress)(buffer),
  decompress: (bytes) => promisify(zstdDecompress)(bytes),
};

const lz4: Codec = {
  compress: ({ buffer }) => compressFrame(buffer),
  decompress: (bytes) => decompressFrame(bytes),
};

/** Java clients frame Snappy blocks (the xerial format): a header of 16 bytes, then each block, preceded by its length. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

const snappy: Codec = {
  compress: ({ buffer }) => compress(buffer),
  decompress: async (bytes) => {
    if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return uncompressBlock(bytes);
    const blocks: Promise<Buffer>[] = [];
    for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
      const end = at + 4 + bytes.readUInt32BE(at);
      blocks.push(uncompressBlock(bytes.subarray(at + 4, end)));
      at = end;
    }
    return Buffer.concat(await Promise.all(blocks));
  },
};

async function uncompressBlock(block: Buffer): Promise<Buffer> {
  return Buffer.from(await uncompress(block, { asBuffer: true }));
}

/** kafkajs has gzip only; its consumer crashes for good at a batch of any other codec. */
export function registerCodecs({ CompressionCodecs, CompressionTypes }: typeof KafkaJs): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => snappy;
  CompressionCodecs[CompressionTypes.LZ4] = () => lz4;
  CompressionCodecs[CompressionTypes.ZSTD] = () => zstd;
}

import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { compressFrame } from 'lz4-napi';
import { compress } from 'snappy';
import { kafkajs } from '../../../src/feed/kafka/kafkajs.ts';

const { CompressionTypes } = kafkajs;

/** Holdfast sends nothing compressed; its tests do, with every codec. By name, as `compression.type` has it. */
export const PACKERS = {
  gzip: { type: CompressionTypes.GZIP, pack: (bytes: Buffer) => promisify(gzip)(bytes, { level: 1 }) },
  snappy: { type: CompressionTypes.Snappy, pack: (bytes: Buffer) => compress(bytes) },
  lz4: { type: CompressionTypes.LZ4, pack: (bytes: Buffer) => compressFrame(bytes) },
  zstd: { type: CompressionTypes.ZSTD, pack: (bytes: Buffer) => promisify(zstdCompress)(bytes) },
};
export type PackerName = keyof typeof PACKERS;

/** `other`: sends these packed records in place of those given. */
export function compressWith(name: PackerName, other?: Buffer): void {
  const { type, pack } = PACKERS[name];
  const codec = {
    compress: ({ buffer }: { buffer: Buffer }) => (other === undefined ? pack(buffer) : Promise.resolve(other)),
    decompress: () => Promise.reject(new Error('records are unpacked without kafkajs')),
  };
  (kafkajs.CompressionCodecs as Record<number, () => typeof codec>)[type] = () => codec;
}

for (const name of Object.keys(PACKERS)) compressWith(name as PackerName);

import { crc32c } from '@node-rs/crc32';

/** A number as records have it: zigzag, seven bits a byte. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value < 0 ? -2 * value - 1 : 2 * value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  return Buffer.from([...bytes, left]);
}

const withLength = (bytes: Buffer | null): Buffer[] => (bytes === null ? [varint(-1)] : [varint(bytes.length), bytes]);

export interface WireRecord {
  readonly delta?: number;
  readonly key?: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: readonly (readonly [string, Buffer | null])[];
}

export function wireRecord({ delta = 0, key = null, value, headers = [] }: WireRecord): Buffer {
  const fields = headers.flatMap(([name, content]) => [...withLength(Buffer.from(name)), ...withLength(content)]);
  const body = [varint(0), varint(delta), ...withLength(key), ...withLength(value), varint(headers.length), ...fields];
  return Buffer.concat(withLength(Buffer.concat([Buffer.from([0]), ...body])));
}

export interface WireBatch {
  readonly offset: number;
  readonly count: number;
  /** Records, packed with the codec of that number. */
  readonly packed: Buffer;
  readonly codec?: number;
  readonly magic?: number;
}

/** A record batch, as a broker sends it. */
export function wireBatch({ offset, count, packed, codec = 0, magic = 2 }: WireBatch): Buffer {
  const batch = Buffer.alloc(61 + packed.length);
  batch.writeBigInt64BE(BigInt(offset), 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt8(magic, 16);
  batch.writeInt16BE(codec, 21);
  batch.writeInt32BE(count - 1, 23);
  batch.writeBigInt64BE(-1n, 43);
  batch.writeInt32BE(count, 57);
  packed.copy(batch, 61);
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
  return batch;
}

/** A batch of small messages, one of each of these values. */
export function plainBatch(offset: number, values: readonly string[]): Buffer {
  const records = values.map((value, delta) => wireRecord({ delta, value: Buffer.from(value) }));
  return wireBatch({ offset, count: values.length, packed: Buffer.concat(records) });
}

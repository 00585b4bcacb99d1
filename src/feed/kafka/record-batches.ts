import { promisify } from 'node:util';
import { unzip, zstdDecompress } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import { decompressFrame } from 'lz4-napi';
import { uncompressSync } from 'snappy';

/** A batch that cannot be read: what it lacks is not known, so nothing behind it is read. */
interface BrokenBatch {
  /** The offset of its first record. */
  readonly offset: number;
  /** The offset of the batch behind it. */
  readonly next: number;
  readonly reason: string;
}

/** A record as the rest of kafkajs takes it; offsets in digits. */
export interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | null>>;
  /** Set where it stands for a batch that cannot be read, the last of a fetch. */
  readonly broken?: BrokenBatch;
}

/** The parts of kafkajs' decoder of a response that are used here; not in its types. */
interface LibraryDecoder {
  /** The whole response, of all its partitions. */
  readonly buffer: Buffer;
  readInt32(): number;
  readBytes(length: number): Buffer;
}

/** Where the fields of a batch are, in bytes from its start. Everything from the attributes on is in its checksum. */
const AT = { length: 8, magic: 16, crc: 17, attributes: 21, lastDelta: 23, producerId: 43, count: 57, records: 61 };
/** What the length of a batch counts is behind that. */
const LENGTH_END = 12;
const MAGIC = 2;
/** Bits of the attributes. */
const BITS = { codec: 0x07, transactional: 0x10, control: 0x20 };
/** What a record or a header takes in memory besides its bytes, at most. */
const ENTRY_BYTES = 1024;
/** Behind every offset fetched from: kafkajs leaves out records before that. */
const BEHIND_ALL = String(Number.MAX_SAFE_INTEGER);

/** What the batches of each response that was decoded so far take in memory. */
const unpackedBytes = new WeakMap<Buffer, number>();

/**
 * The records of one partition of a fetch. In place of kafkajs' own, which checks no checksum, unpacks without a bound, and throws
 * for the whole response. Ends at a batch that cannot be read, which a message stands for, and where the response takes enough
 * memory: the rest is fetched again.
 */
export async function decodeMessages(decoder: LibraryDecoder): Promise<FetchedMessage[]> {
  const size = decoder.readInt32();
  const bytes = size > 0 ? decoder.readBytes(size) : Buffer.alloc(0);
  const messages: FetchedMessage[] = [];
  let unpacked = unpackedBytes.get(decoder.buffer) ?? 0;
  let end = 0;
  for (let at = 0; at < bytes.length && unpacked < UNPACKED_BYTES_MAX; ) {
    const length = bytes.length - at < LENGTH_END ? Infinity : LENGTH_END + bytes.readInt32BE(at + AT.length);
    // The limit of the fetch cuts off the last batch, but not the first.
    if (at > 0 && bytes.length - at < length) break;
    try {
      const batch = bytes.subarray(at, at + length);
      const decoded = await decodeBatch(batch, length);
      // No checksum has the offset in it.
      const first = Number(batch.readBigInt64BE(0));
      if (first < end) throw new Error(`it begins at offset ${first}, and the batch before it ends at ${end - 1}`);
      end = first + batch.readInt32BE(AT.lastDelta) + 1;
      for (const record of decoded.records) messages.push(record);
      unpacked += decoded.unpacked;
    } catch (error) {
      messages.push(standIn(bytes.subarray(at), (error as Error).message));
      break;
    }
    at += length;
  }
  unpackedBytes.set(decoder.buffer, unpacked);
  return messages;
}

async function decodeBatch(batch: Buffer, length: number) {
  if (batch.length < Math.max(length, AT.records)) throw new Error('it is cut off');
  const magic = batch.readInt8(AT.magic);
  if (magic !== MAGIC) throw new Error(`it has format ${magic}, expected ${MAGIC} (Kafka 0.11 or later)`);
  const [stated, found] = [batch.readUInt32BE(AT.crc), crc32c(batch.subarray(AT.attributes))];
  if (stated !== found) throw new Error(`it states checksum ${hex(stated)}, and its bytes have ${hex(found)}`);
  const codecType = batch.readInt16BE(AT.attributes) & BITS.codec;
  const unpack = CODECS[codecType];
  if (unpack === undefined) throw new Error(`it has the unknown compression ${codecType}`);
  return readRecords(batch, await unpack(batch.subarray(AT.records)));
}

const MALFORMED = 'its records do not fill it exactly';

function readRecords(batch: Buffer, bytes: Buffer) {
  const first = Number(batch.readBigInt64BE(0));
  const attributes = batch.readInt16BE(AT.attributes);
  const isControlRecord = (attributes & BITS.control) !== 0;
  const batchContext = {
    producerId: String(batch.readBigInt64BE(AT.producerId)),
    inTransaction: (attributes & BITS.transactional) !== 0,
  };
  let at = 0;
  let unpacked = bytes.length;
  function readVarint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 28) throw new Error(MALFORMED);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
  }
  function readBytes(): Buffer | null {
    const length = readVarint();
    if (length === -1) return null;
    if (length < 0 || at + length > bytes.length) throw new Error(MALFORMED);
    at += length;
    return bytes.subarray(at - length, at);
  }
  function countEntry(): void {
    unpacked += ENTRY_BYTES;
    checkUnpacked(unpacked);
  }
  const records: FetchedMessage[] = [];
  for (let left = batch.readInt32BE(AT.count); left > 0; left--) {
    countEntry();
    const length = readVarint();
    const end = at + length;
    // The attributes, and the difference of the time.
    at += 1;
    while (bytes[at++]! >= 0x80);
    const offset = String(first + readVarint());
    const [key, value] = [readBytes(), readBytes()];
    const headers: Record<string, Buffer | null> = Object.create(null);
    for (let more = readVarint(); more > 0; more--) {
      countEntry();
      headers[String(readBytes())] = readBytes();
    }
    if (at !== end) throw new Error(MALFORMED);
    records.push({ offset, key, value, headers, isControlRecord, batchContext });
  }
  if (at !== bytes.length) throw new Error(MALFORMED);
  return { records, unpacked };
}

/** A record that stands for the batch at the start of these bytes. */
function standIn(bytes: Buffer, reason: string): FetchedMessage {
  const broken = { offset: Number(bytes.readBigInt64BE(0)), next: nextOffset(bytes), reason };
  const batchContext = { producerId: '-1', inTransaction: false };
  return { offset: BEHIND_ALL, key: null, value: null, headers: {}, isControlRecord: false, batchContext, broken };
}

/** The header may be what is broken: where its fields differ, the smaller one is taken, so that no message behind is lost. */
function nextOffset(bytes: Buffer): number {
  const offset = Number(bytes.readBigInt64BE(0));
  const behind = bytes.subarray(Math.max(LENGTH_END, LENGTH_END + bytes.readInt32BE(AT.length)));
  if (behind[AT.magic] === MAGIC) {
    const next = Number(behind.readBigInt64BE(0));
    if (next > offset && next - offset <= 2 ** 31) return next;
  }
  if (bytes.length < AT.records) return offset + 1;
  return offset + Math.max(1, Math.min(bytes.readInt32BE(AT.lastDelta) + 1, bytes.readInt32BE(AT.count)));
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** The memory that a batch may take: eight of the longest messages. Producers fill 16 KiB to 1 MiB, and a few KiB of zstd may be gigabytes. */
export const UNPACKED_BYTES_MAX = 128 * 2 ** 20;

type Unpack = (bytes: Buffer) => Promise<Buffer>;

/** By the number in a batch's attributes. Each throws where the bytes unpack to more than `UNPACKED_BYTES_MAX`. */
const CODECS: readonly Unpack[] = [
  async (bytes) => bytes,
  withZlib(promisify(unzip)),
  unpackSnappy,
  (bytes) => {
    checkUnpacked(lz4LengthMax(bytes));
    return decompressFrame(bytes);
  },
  withZlib(promisify(zstdDecompress)),
];

/** Throws where a batch takes too much memory. */
function checkUnpacked(bytes: number): void {
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

const LZ4 = { magic: 0x184d2204, contentLength: 0x08, dictionary: 0x01, blockChecksum: 0x10, ratioMax: 255 };

/** The most that an LZ4 frame unpacks to, which need not state it: all of its blocks are full, or packed as far as can be. */
function lz4LengthMax(frame: Buffer): number {
  if (frame.readUInt32LE(0) !== LZ4.magic) throw new Error('it is no LZ4 frame');
  const flags = frame.readUInt8(4);
  const blockBytes = 2 ** (8 + ((frame.readUInt8(5) >>> 3) & 0xe));
  let at = 7 + (flags & LZ4.contentLength ? 8 : 0) + (flags & LZ4.dictionary ? 4 : 0);
  let lengthMax = 0;
  for (;;) {
    // The highest bit says that the block is not packed.
    const packed = frame.readUInt32LE(at) & 0x7fffffff;
    if (packed === 0) return lengthMax;
    lengthMax += Math.min(blockBytes, packed * LZ4.ratioMax);
    at += 4 + packed + (flags & LZ4.blockChecksum ? 4 : 0);
  }
}

/** The key of a control record is its version and its type: 0 ends an aborted transaction, 1 a committed one. */
const ABORT_KEY = Buffer.from([0, 0, 0, 0]);

/**
 * The records of a fetch without those of aborted transactions. In place of kafkajs' own, which expects the transactions in
 * the order of their first offsets (brokers list them as they ended), and takes a message with the key 0 for the end of one.
 */
export function withoutAborted<Fetched extends Omit<FetchedMessage, 'value' | 'headers'>>({
  messages,
  abortedTransactions,
}: {
  messages: readonly Fetched[];
  abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[] | null;
}): Fetched[] {
  const ahead = (abortedTransactions ?? []).map((each) => ({ ...each, from: Number(each.firstOffset) }));
  ahead.sort((a, b) => a.from - b.from);
  const aborted = new Set<string>();
  let next = 0;
  return messages.filter(({ offset, key, isControlRecord, batchContext: { producerId, inTransaction } }) => {
    for (; next < ahead.length && ahead[next]!.from <= Number(offset); next++) aborted.add(ahead[next]!.producerId);
    if (!isControlRecord) return !(inTransaction && aborted.has(producerId));
    if (key !== null && ABORT_KEY.equals(key)) aborted.delete(producerId);
    return true;
  });
}

import { createRequire } from 'node:module';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeMessages, type FetchedMessage, UNPACKED_BYTES_MAX } from '../../../src/feed/kafka/record-batches.ts';
import { plainBatch, wireBatch, wireRecord } from '../../support/kafka/batches.ts';
import { PACKERS, type PackerName } from '../../support/kafka/compression.ts';

interface Decoder {
  readInt32(): number;
  readBytes(length: number): Buffer;
  readonly buffer: Buffer;
}
const LibraryDecoder = createRequire(import.meta.url)('kafkajs/src/protocol/decoder') as new (_: Buffer) => Decoder;

/** The response of a fetch: the records of each partition, preceded by their length. */
function responseOf(partitions: readonly (readonly Buffer[])[]): Decoder {
  const parts = partitions.flatMap((batches) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(batches.reduce((sum, batch) => sum + batch.length, 0));
    return [length, ...batches];
  });
  return new LibraryDecoder(Buffer.concat(parts));
}

const decode = (...batches: Buffer[]): Promise<FetchedMessage[]> => decodeMessages(responseOf([batches]));

const shown = (messages: readonly FetchedMessage[]): string[] =>
  messages.map(({ offset, value, broken }) =>
    broken === undefined ? `${offset} ${value}` : `${broken.offset} to ${broken.next - 1}: ${broken.reason}`,
  );

function changed(batch: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(batch);
  change(copy);
  return copy;
}

const [A, B, C] = [plainBatch(5, ['a', 'b']), plainBatch(7, ['c', 'd', 'e']), plainBatch(10, ['f'])] as const;

describe('the records of a fetch', () => {
  it('are decoded with their keys, headers and nulls', async () => {
    const packed = Buffer.concat([
      wireRecord({ key: Buffer.from('k'), value: null, headers: [['h', Buffer.from('v')], ['n', null]] }), // biome-ignore format: one record a line
      wireRecord({ delta: 3, value: Buffer.alloc(0) }),
    ]);
    const [first, second] = await decode(wireBatch({ offset: 2 ** 40, count: 2, packed }));
    expect(first).toMatchObject({
      offset: String(2 ** 40),
      key: Buffer.from('k'),
      value: null,
      isControlRecord: false,
    });
    expect({ ...first!.headers }).toEqual({ h: Buffer.from('v'), n: null });
    expect(second).toMatchObject({ offset: String(2 ** 40 + 3), key: null, value: Buffer.alloc(0) });
  });

  it('end before a last batch that the limit of the fetch cuts off', async () => {
    for (const cut of [1, 11, 12, 20, 61, C.length - 1])
      expect(shown(await decode(A, B, C.subarray(0, cut)))).toEqual(['5 a', '6 b', '7 c', '8 d', '9 e']);
    expect(await decode()).toEqual([]);
  });

  it('end at a batch with any other byte, which is named with the batch behind it', async () => {
    // The offset, the length and the leader's epoch are in no checksum; a length is found by what it leaves.
    const unchecked = new Set([0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15]);
    for (let at = 0; at < B.length; at++) {
      if (unchecked.has(at)) continue;
      const flipped = changed(B, (copy) => (copy[at]! ^= 0x04));
      const messages = await decode(A, flipped, C);
      if (at >= 8 && at < 11) expect(shown(messages)).toEqual(['5 a', '6 b']);
      else expect([at, messages.at(-1)?.broken?.offset, messages.length]).toEqual([at, 7, 3]);
      if (at > 11) expect([at, messages.at(-1)!.broken!.next]).toEqual([at, 10]);
      // Alone, or with a length that is wrong, it is never taken for longer than it is.
      const [alone] = await decode(flipped);
      expect([at, alone?.broken?.offset]).toEqual([at, 7]);
      expect(alone!.broken!.next).toBeGreaterThan(7);
      expect(alone!.broken!.next).toBeLessThanOrEqual(10);
    }
  });

  it('end at a batch whose offset is not behind the batch before it', async () => {
    const moved = changed(B, (copy) => copy.writeBigInt64BE(0n));
    const reason = 'it begins at offset 0, and the batch before it ends at 6';
    expect(shown(await decode(A, moved, C))).toEqual(['5 a', '6 b', `0 to 9: ${reason}`]);
  });

  it.each([
    ['an older format', wireBatch({ offset: 7, count: 1, packed: Buffer.alloc(9), magic: 1 }), 'it has format 1'],
    ['an unknown codec', wireBatch({ offset: 7, count: 1, packed: Buffer.alloc(9), codec: 5 }), 'compression 5'],
    ['no gzip', wireBatch({ offset: 7, count: 1, packed: Buffer.alloc(9), codec: 1 }), 'unknown compression method'],
    ['too few records', wireBatch({ offset: 7, count: 2, packed: wireRecord({ value: null }) }), 'do not fill it'],
    [
      'too many',
      wireBatch({ offset: 7, count: 1, packed: Buffer.alloc(99, wireRecord({ value: null })) }),
      'do not fill',
    ],
    [
      'a value beyond its end',
      wireBatch({ offset: 7, count: 1, packed: Buffer.from('0c000000017e7e', 'hex') }),
      'fill',
    ],
  ])('end at a batch with %s', async (_, batch, reason) => {
    const [first, second, third, ...more] = await decode(A, batch, C);
    expect([...shown([first!, second!]), ...more]).toEqual(['5 a', '6 b']);
    expect(third!.broken!.reason).toContain(reason);
    expect(Number(third!.offset)).toBeGreaterThan(2 ** 52);
  });
});

describe('a batch that takes too much memory', () => {
  const tooLarge = `it takes more than ${UNPACKED_BYTES_MAX / 2 ** 20} MiB unpacked`;
  const bytes = wireRecord({ value: Buffer.alloc(UNPACKED_BYTES_MAX + 1) });

  it('is not unpacked where it is an LZ4 frame of the old form, which has no header', async () => {
    const packed = Buffer.concat([Buffer.from('02214c18', 'hex'), Buffer.alloc(20)]);
    const [message] = await decode(wireBatch({ offset: 7, count: 1, packed, codec: PACKERS.lz4.type }));
    expect(message!.broken!.reason).toBe('it is no LZ4 frame');
  });

  it.each(Object.keys(PACKERS) as PackerName[])('is not unpacked with %s', async (name) => {
    const { type: codec, pack } = PACKERS[name];
    const batch = wireBatch({ offset: 7, count: 1, packed: await pack(bytes), codec });
    expect(shown(await decode(A, batch, C))).toEqual(['5 a', '6 b', `7 to 9: ${tooLarge}`]);
  });

  it('may have few bytes, and many records or headers', async () => {
    const count = UNPACKED_BYTES_MAX / 1024;
    const records = Buffer.alloc(count * 7, wireRecord({ value: null }));
    const header: [string, null] = ['', null];
    const headers = wireRecord({ value: null, headers: Array.from({ length: count }, () => header) });
    for (const [left, unpacked] of [
      [count, records],
      [1, headers],
    ] as const) {
      const batch = wireBatch({ offset: 7, count: left, packed: zstdCompressSync(unpacked), codec: 4 });
      expect((await decode(batch)).at(-1)!.broken!.reason).toBe(tooLarge);
    }
  });

  it('may be several together: the rest of the response is left for the next fetch', async () => {
    const packed = zstdCompressSync(wireRecord({ value: Buffer.alloc(UNPACKED_BYTES_MAX / 2) }));
    const halves = [7, 8, 9].map((offset) => wireBatch({ offset, count: 1, packed, codec: 4 }));
    const response = responseOf([[A, halves[0]!, halves[1]!, halves[2]!], [A], [B]]);
    const read = [await decodeMessages(response), await decodeMessages(response), await decodeMessages(response)];
    expect(read.map((messages) => messages.map(({ offset }) => offset))).toEqual([['5', '6', '7', '8'], [], []]);
    expect(read.flat().filter(({ broken }) => broken)).toEqual([]);
  });
});

it('a broker that knows no record batches is refused', async () => {
  await import('../../../src/feed/kafka/kafkajs.ts');
  const decodeSet = createRequire(import.meta.url)('kafkajs/src/protocol/messageSet/decoder') as () => Promise<never>;
  await expect(decodeSet()).rejects.toThrow('the broker is older than Kafka 0.11');
});

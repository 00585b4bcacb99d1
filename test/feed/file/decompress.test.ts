import { createHash } from 'node:crypto';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { outline, readContent } from '../../support/feed/read-file.ts';

const FIRST = '{"a":1}\n{"b":2}\n';
const SECOND = '{"c":3}\n{"d":4}\n';
const ALL = ['1:{"a":1}', '2:{"b":2}', '3:{"c":3}', '4:{"d":4}'];
const EMPTY_ZSTD_FRAME = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);

const CODECS: readonly (readonly [string, (content: string) => Buffer])[] = [
  ['gzip', (content) => gzipSync(content)],
  ['zstd', (content) => zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
];

describe.each(CODECS)('a file compressed with %s', (_name, compress) => {
  const parts = [compress(FIRST), compress(SECOND)];

  it.each([
    ['in one piece', [compress(FIRST + SECOND)], ALL],
    ['in two members or frames', parts, ALL],
    ['in members that cut a line', [compress(`${FIRST}{"c"`), compress(`:3}\n{"d":4}\n`)], ALL],
    ['with an empty member or frame', [compress(''), ...parts, compress('')], ALL],
    ['that holds nothing', [compress('')], []],
    ['that holds an array', [compress('[{"a":1},'), compress('{"b":2}]')], ALL.slice(0, 2)],
    ['that holds a page', [compress('{"transactions":[{"a":1}]}')], ALL.slice(0, 1)],
    ['with a byte order mark inside', [compress(`\ufeff${FIRST}`)], ALL.slice(0, 2)],
  ])('%s', async (_title, pieces, expected) => {
    for (const chunkBytes of [1, 5, 30, 100_000]) {
      const reading = await readContent(Buffer.concat(pieces), { chunkBytes });
      expect(reading.broken).toBeNull();
      expect(outline(reading)).toEqual(expected);
    }
  });

  it('hands over the whole lines before the place where it is cut off', async () => {
    const text = Array.from({ length: 5000 }, (_, i) => JSON.stringify({ i, text: (i * 7919).toString(36) })).join(
      '\n',
    );
    const bytes = compress(text);
    for (const length of [bytes.length - 1, bytes.length - 6, bytes.length - 3000, 6]) {
      const reading = await readContent(bytes.subarray(0, length));
      expect(reading.broken?.message).toContain('unexpected end of file');
      expect(reading.broken?.location).toBe(`byte ${length}`);
      const lines = reading.messages.map(({ bytes }) => Buffer.from(bytes!).toString());
      expect(lines).toEqual(text.split('\n').slice(0, lines.length));
    }
    expect((await readContent(bytes)).messages).toHaveLength(5000);
  });

  it('breaks at the same place however the bytes arrive', async () => {
    const cut = Buffer.concat([parts[0]!, parts[1]!.subarray(0, -4)]);
    const readings = [];
    for (const chunkBytes of [1, 3, 64, 100_000]) readings.push(await readContent(cut, { chunkBytes }));
    expect(new Set(readings.map((reading) => reading.broken?.location))).toEqual(new Set([`byte ${cut.length}`]));
    expect(new Set(readings.map((reading) => outline(reading).join()))).toHaveLength(1);
  });

  it('that continues with something else is broken', async () => {
    for (const chunkBytes of [1, 100_000]) {
      const { broken } = await readContent(Buffer.concat([...parts, Buffer.from('{"e":5}\n')]), { chunkBytes });
      expect(broken?.message).toContain('cannot be read further');
    }
  });

  const NOISE = Array.from(
    { length: 20_000 },
    (_, i) => `{"${createHash('sha256').update(`${i}`).digest('hex')}":${i}}`,
  );

  it.each([
    [
      'was altered after lines that were handed over',
      NOISE,
      (bytes: Buffer) => bytes.fill(0xff, bytes.length - 3),
      true,
    ],
    [
      'was altered before any line was handed over',
      ['{"a":1}'],
      (bytes: Buffer) => bytes.fill(0xff, bytes.length - 3),
      false,
    ],
    ['is cut off', NOISE, (bytes: Buffer) => bytes.subarray(0, -3), false],
    ['goes on with something else', NOISE, (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('other')]), false],
  ])('that %s says whether lines may be wrong', async (_title, lines, damage, says) => {
    const { broken, messages } = await readContent(damage(compress(lines.join('\n'))));
    expect(broken).not.toBeNull();
    expect(broken!.message.includes('lines before that may have been altered')).toBe(says);
    expect(messages.length > 0).toBe(lines === NOISE);
  });

  it('that is cut off inside an array hands over the whole elements', async () => {
    const elements = Array.from({ length: 30_000 }, (_, i) => JSON.stringify({ i, text: (i * 7919).toString(36) }));
    const bytes = compress(`[${elements.join(',')}]`);
    const reading = await readContent(bytes.subarray(0, bytes.length - 1000));
    expect(reading.broken?.message).toContain('unexpected end of file');
    expect(reading.messages.length).toBeGreaterThan(0);
    const texts = reading.messages.map(({ bytes }) => Buffer.from(bytes!).toString());
    expect(texts).toEqual(elements.slice(0, texts.length));
  });
});

describe('what only one of the formats has', () => {
  it.each([1, 100_000])('zstd frames without data are skipped', async (chunkBytes) => {
    const frames = [EMPTY_ZSTD_FRAME, zstdCompressSync(FIRST), EMPTY_ZSTD_FRAME, zstdCompressSync(SECOND)];
    const reading = await readContent(Buffer.concat(frames), { chunkBytes });
    expect(reading.broken).toBeNull();
    expect(outline(reading)).toEqual(ALL);
  });

  it('a gzip checksum that does not match is a break', async () => {
    const bytes = gzipSync(FIRST);
    bytes[bytes.length - 6]! ^= 1;
    expect((await readContent(bytes)).broken?.message).toContain('incorrect data check');
  });
});

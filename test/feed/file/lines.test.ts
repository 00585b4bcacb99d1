import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outline, readContent } from '../../support/feed/read-file.ts';

describe('a file of lines', () => {
  it.each([
    ['nothing', '', []],
    ['blank lines only', '\n \r\n\t\n', []],
    ['two lines', '{"a":1}\n{"b":2}\n', ['1:{"a":1}', '2:{"b":2}']],
    ['no newline at the end', '{"a":1}\n{"b":2}', ['1:{"a":1}', '2:{"b":2}']],
    ['CRLF', '{"a":1}\r\n{"b":2}\r\n', ['1:{"a":1}', '2:{"b":2}']],
    ['CRLF, cut before the LF', '{"a":1}\r\n{"b":2}\r', ['1:{"a":1}', '2:{"b":2}']],
    ['blank lines, which count', '\n{"a":1}\n\n  \n{"b":2}\n\n', ['2:{"a":1}', '5:{"b":2}']],
    ['a byte order mark', '\ufeff{"a":1}\n{"b":2}\n', ['1:{"a":1}', '2:{"b":2}']],
    ['a byte order mark alone', '\ufeff\n{"b":2}\n', ['2:{"b":2}']],
    ['null lines', 'null\n{"b":2}\nnull', ['1:null', '2:{"b":2}', '3:null']],
    ['broken lines, which are handed over', '{"a":\nx\n{"b":2}\n', ['1:{"a":', '2:x', '3:{"b":2}']],
    ['a line torn in a string', '{"a":"x\n{"b":2}\n', ['1:{"a":"x', '2:{"b":2}']],
    ['the word transactions further in', '{"a":{"transactions":[]}}\n', ['1:{"a":{"transactions":[]}}']],
    ['the word transactions as a value', '{"a":"transactions"}\n', ['1:{"a":"transactions"}']],
  ])('with %s', async (_name, content, expected) => {
    for (const chunkBytes of [1, 2, 3, 7, 1000]) {
      const reading = await readContent(content, { chunkBytes });
      expect(outline(reading)).toEqual(expected);
      expect(reading.broken).toBeNull();
    }
  });

  it('gives the same messages however it is cut into chunks', async () => {
    const line = fc.constantFrom('{"a":1}', '', '\r', 'null', `{"long":"${'x'.repeat(50)}"}`, ' ', '{');
    const chunkBytes = fc.integer({ min: 1, max: 100 });
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.constantFrom('\n', '\r\n'), chunkBytes, async (lines, end, size) => {
        const content = `{"first":1}${end}${lines.join(end)}`;
        expect(outline(await readContent(content, { chunkBytes: size }))).toEqual(outline(await readContent(content)));
      }),
    );
  });
});

describe('a line longer than the limit', () => {
  const options = { lineBytesMax: 20, overlongHeadBytes: 8 };
  const long = `{"a":"${'y'.repeat(30)}"}`;
  const sha256 = createHash('sha256').update(long).digest('hex');

  it.each(['\n', '\r\n'])('keeps its head, its length and its hash, without its end %j', async (end) => {
    for (const chunkBytes of [1, 5, 16, 39, 1000]) {
      const { messages } = await readContent(`{"b":1}${end}${long}${end}{"c":2}${end}`, { ...options, chunkBytes });
      expect(messages.map(({ offset }) => offset)).toEqual([1, 2, 3]);
      expect(messages.map(({ overlong }) => overlong)).toEqual([undefined, { length: long.length, sha256 }, undefined]);
      expect(Buffer.from(messages[1]!.bytes!).toString()).toBe(long.slice(0, 8));
    }
  });

  it.each([
    [20, false],
    [21, true],
  ])('of %s bytes: %s', async (length, isOverlong) => {
    for (const end of ['', '\n', '\r\n', '\r']) {
      for (const chunkBytes of [1, 20, 21, 22, 1000]) {
        const { messages } = await readContent(`x\n${'z'.repeat(length)}${end}`, { ...options, chunkBytes });
        expect(messages[1]?.overlong?.length).toBe(isOverlong ? length : undefined);
        if (!isOverlong) expect(messages[1]?.bytes).toHaveLength(length);
      }
    }
  });
});

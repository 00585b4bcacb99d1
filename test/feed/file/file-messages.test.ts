import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/refusal.ts';
import { outline, readContent } from '../../support/feed/read-file.ts';

describe('an array or page', () => {
  it.each([
    ['an empty array', '[]', []],
    ['an array', '[{"a":1},{"b":2}]', ['1:{"a":1}', '2:{"b":2}']],
    ['one over lines', '[\n  {\n    "a": 1\n  },\n  {"b":2}\n]\n', ['1:{\n    "a": 1\n  }', '2:{"b":2}']],
    ['one after a byte order mark', '\ufeff [{"a":1}]', ['1:{"a":1}']],
    ['one with null', '[null, {"b":2}]', ['1:null', '2:{"b":2}']],
    ['elements that are no objects', '[7, "x,]}", [1,[2]] , true]', ['1:7', '2:"x,]}"', '3:[1,[2]]', '4:true']],
    ['braces and quotes in strings', '[{"a":"}\\"]\\\\"},{"{":[]}]', ['1:{"a":"}\\"]\\\\"}', '2:{"{":[]}']],
    ['bad JSON inside an element', '[{"a":nonsense 1 2},{}]', ['1:{"a":nonsense 1 2}', '2:{}']],
    ['a page', '{"transactions":[{"a":1},{"b":2}]}', ['1:{"a":1}', '2:{"b":2}']],
    ['an empty page', '{"transactions":[]}\n', []],
    ['a page over lines', '{\n  "transactions" : [\n    {"a":1}\n  ]\n}\n', ['1:{"a":1}']],
    ['a page with other keys', '{"transactions":[{"a":1}],"after":[1,{"transactions":[9]}]}', ['1:{"a":1}']],
  ])('%s', async (_name, content, expected) => {
    for (const chunkBytes of [1, 7, 1000]) {
      const reading = await readContent(content, { chunkBytes });
      expect(reading.broken).toBeNull();
      expect(outline(reading)).toEqual(expected);
    }
  });

  it.each([
    ['[', [], 'byte 1', 'a value'],
    ['[{"a":1}', ['1:{"a":1}'], 'byte 8', ', or ]'],
    ['[{"a":1},', ['1:{"a":1}'], 'byte 9', 'a value'],
    ['[{"a":1},]', ['1:{"a":1}'], 'byte 9', 'a value'],
    ['[,{"a":1}]', [], 'byte 1', 'a value'],
    ['[{"a":1} {"b":2}]', ['1:{"a":1}'], 'byte 9', ', or ]'],
    ['[{"a":1},{"b":2', ['1:{"a":1}'], 'byte 15', 'the end of an element'],
    ['[{"a":1},{"b":"2', ['1:{"a":1}'], 'byte 16', 'the end of a string'],
    ['[{"a":1},{"b":]}]', ['1:{"a":1}', '2:{"b":]'], 'byte 15', ', or ]'],
    ['[{"a":1}}', ['1:{"a":1}'], 'byte 8', ', or ]'],
    ['[{"a":1}]]', ['1:{"a":1}'], 'byte 9', 'nothing after the array'],
    ['[{"a":1}]\n[{"b":2}]', ['1:{"a":1}'], 'byte 10', 'nothing after the array'],
    ['{"transactions":[{"a":1}]', ['1:{"a":1}'], 'byte 25', ', or }'],
    ['{"transactions":[{"a":1}],}', ['1:{"a":1}'], 'byte 26', 'a key'],
    ['{"transactions":[{"a":1}]}{}', ['1:{"a":1}'], 'byte 26', 'nothing after the page'],
    ['{"transactions":null}', [], 'byte 16', '['],
    ['{"transactions":[{"a":1}],"transactions":[]}', ['1:{"a":1}'], 'byte 41', 'only once'],
    ['{"transactions":[],"more" [', [], 'byte 26', ':'],
  ])('broken as %s hands over what comes before the break', async (content, before, location, expected) => {
    for (const chunkBytes of [1, 1000]) {
      const reading = await readContent(content, { chunkBytes });
      expect(outline(reading)).toEqual(before);
      expect(reading.broken?.location).toBe(location);
      expect(reading.broken?.message).toContain(expected);
    }
  });

  it('returns every element of any JSON array unchanged', async () => {
    const value = fc.oneof(
      fc.json(),
      fc.jsonValue({ noUnicodeString: false }).map((json) => JSON.stringify(json, null, 2)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value), fc.constantFrom('', ' ', '\n\t'), async (elements, blank) => {
        const content = `${blank}[${elements.map((element) => `${blank}${element}${blank}`).join(',')}]${blank}`;
        const expected = elements.map((element, index) => `${index + 1}:${element.trim()}`);
        expect(outline(await readContent(content))).toEqual(expected);
      }),
    );
  });

  it('keeps the head, length and hash of an element above the limit', async () => {
    const element = `{"a":"${'x'.repeat(30)}"}`;
    const { messages } = await readContent(`[{},${element}]`, { lineBytesMax: 20, overlongHeadBytes: 8 });
    const sha256 = createHash('sha256').update(element).digest('hex');
    expect(messages[1]).toMatchObject({ offset: 2, overlong: { length: element.length, sha256 } });
    expect(messages[1]?.bytes).toHaveLength(8);
  });

  it.each([
    ['[{"a":1},{"b":2}]', "jq -c '.[]'"],
    ['{"transactions":[{"a":1}]}', "jq -c '.transactions[]'"],
  ])('larger than the limit is refused before anything of it is handed over: %s', async (content, advice) => {
    const reading = readContent(content, { containerBytesMax: content.length - 1, chunkBytes: 3 });
    await expect(reading).rejects.toThrow(Refusal);
    await expect(reading).rejects.toThrow(advice);
    expect((await readContent(content, { containerBytesMax: content.length })).broken).toBeNull();
  });

  it.each([
    ['{\n "a": {"b": 1}\n}\n{\n "c": 2\n}\n'],
    ['\ufeff{ \r\n "n": 1,\n "transactions": []\n}'],
    ['{\n{"b":2}\n'],
  ])('that is neither, but printed over several lines, is refused: %j', async (content) => {
    for (const chunkBytes of [1, 1000])
      await expect(readContent(content, { chunkBytes })).rejects.toThrow(
        /has JSON printed over several lines, expected one update per line, .*: jq -c \.$/,
      );
  });
});

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

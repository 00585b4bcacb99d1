import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/http/json-request.ts';
import { int64Json, parseInt64 } from '../../src/json/exact-number.ts';
import { showGiven } from '../../src/show-given.ts';

describe('an int64', () => {
  test('goes in and out as it is, as a number or as text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const { number, text } = parseJson(`{"number": ${value}, "text": "${value}"}`) as Record<string, unknown>;
        expect(parseInt64(number)).toBe(value);
        expect(parseInt64(text)).toBe(value);
        expect(JSON.stringify({ value: int64Json(value) })).toBe(`{"value":${value}}`);
      }),
    );
  });

  test.each([
    ['9223372036854775808', null],
    ['-9223372036854775809', null],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993.0', 9007199254740993n],
    ['9007199254740993.5', null],
    ['1.0000000000000000001', null],
    ['1e2', 100n],
    ['1e18', 10n ** 18n],
    ['-9.223372036854775808e18', -(2n ** 63n)],
    ['9223372036854775808e0', null],
    ['9.007199254740993e15', 9007199254740993n],
    ['90071992547409930e-1', 9007199254740993n],
    ['90071992547409930e-2', null],
    ['100000000000000000.00', 10n ** 17n],
    ['999999999999999.99', null],
    ['10000000.0000000001', null],
    ['1e-2', null],
    ['0e-99', 0n],
    ['0e99', 0n],
    [`${'9'.repeat(19)}e-1`, null],
    [`5${'0'.repeat(50)}e-50`, 5n],
    ['0.0e-9', 0n],
    ['1e30', null],
    ['1e400', null],
    ['1e999999999', null],
    ['-0', 0n],
    ['"007"', 7n],
    ['"+7"', null],
    ['" 7"', null],
    ['""', null],
    ['true', null],
    ['null', null],
  ])('%s is read as %s', (text, value) => {
    const { number } = parseJson(`{"number": ${text}}`) as Record<string, unknown>;
    expect(parseInt64(number)).toBe(value);
  });
});

describe('JSON text', () => {
  test('brackets within strings are no depth', () => {
    expect(parseJson(`["${'['.repeat(100)}\\"[[["]`)).toHaveLength(1);
  });

  test.each([
    ['{"a":', 'Unexpected end of JSON input at position 5 (line 1 column 6)'],
    ['[1,', 'Unexpected end of JSON input at position 3 (line 1 column 4)'],
    ['{"a": nul', 'Unexpected end of JSON input at position 9 (line 1 column 10)'],
    ['\u0000', 'Unexpected token "\\u0000" in JSON at position 0 (line 1 column 1)'],
    [
      '{"a":\r\n[1, -2.5e3,\n "]", true,\u0000]}',
      'Unexpected token "\\u0000" in JSON at position 30 (line 3 column 12)',
    ],
    ['[{"a": []}, nuII]', 'Unexpected token "I" in JSON at position 14 (line 1 column 15)'],
    ['[[],]', 'Unexpected token "]" in JSON at position 4 (line 1 column 5)'],
    ['{"a": }', 'Unexpected token "}" in JSON at position 6 (line 1 column 7)'],
    ['undefined', 'Unexpected token "u" in JSON at position 0 (line 1 column 1)'],
    ['{"a": \u{1f600}}', 'Unexpected token "\u{1f600}" in JSON at position 6 (line 1 column 7)'],
    ['["\\\u{1f600}", x]', 'Unexpected token "\u{1f600}" in JSON at position 3 (line 1 column 4)'],
    ['{"a" 1}', "Expected ':' after property name in JSON at position 5 (line 1 column 6)"],
  ])('%j says where it stops being JSON', (text, message) => {
    expect(() => parseJson(text)).toThrow(`body: malformed JSON: ${message}`);
  });

  test('says where also behind a string of very many escapes', () => {
    const text = `["${'\\"'.repeat(5_000_000)}",]`;
    expect(() => parseJson(text)).toThrow(`Unexpected token "]" in JSON at position ${text.length - 1} `);
  });

  test.each(['1e400', '-1e400', '1.50e0', '12345678901234567890', '9223372036854775808'])(
    'shows %s as it was written',
    (text) => {
      const { value } = parseJson(`{"value": ${text}}`) as Record<string, unknown>;
      expect(showGiven(value)).toBe(text);
    },
  );

  test.each([
    [`${'['.repeat(64)}${']'.repeat(64)}`, true],
    [`${'['.repeat(65)}${']'.repeat(65)}`, false],
    [`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, false],
    [`[${'[],'.repeat(100)}[]]`, true],
    ['['.repeat(1_000_000), false],
  ])('depth: %.20s...', (text, accepted) => {
    if (accepted) parseJson(text);
    else expect(() => parseJson(text)).toThrow('nested deeper than 64 levels');
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { int64Json, parseInt64, parseJson } from '../../src/http/lossless-json.ts';

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
    ['1e30', null],
    ['-0', 0n],
    ['"007"', 7n],
    ['"+7"', null],
    ['" 7"', null],
    ['""', null],
    ['true', null],
    ['null', null],
  ])('%s is read as %s', (text, value) => {
    expect(parseInt64(parseJson(text))).toBe(value);
  });
});

describe('JSON text', () => {
  test('loses no digit: written again it is the same text', () => {
    const bigintAsNumber = (_key: string, value: unknown): unknown =>
      typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('', '1234567890123456'), (value, digits) => {
        const text = JSON.stringify([value, digits]);
        expect(JSON.stringify(parseJson(text), bigintAsNumber)).toBe(text);
      }),
    );
  });

  test('brackets within strings are no depth', () => {
    expect(parseJson(`["${'['.repeat(100)}\\"[[["]`)).toHaveLength(1);
  });

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

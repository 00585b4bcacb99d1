import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/ledger/duration.ts';

describe('parseDuration', () => {
  test.each([
    ['0s', 0],
    ['1ms', 1000],
    ['0.001ms', 1],
    ['1d', 86_400_000_000],
    ['1.1m', 66_000_000],
    ['0.0001ms', null],
    ['-1s', null],
    ['1 s', null],
    ['1S', null],
    ['s', null],
    ['1w', null],
    ['999999999999d', null],
  ])('%s is %s microseconds', (text, micros) => {
    expect(parseDuration(text)).toBe(micros);
  });
});

describe('formatDuration', () => {
  test.each([
    [86_400_000_000, '1d'],
    [10_800_000_000, '3h'],
    [600_000_000, '10m'],
    [90_000_000, '90s'],
    [1_500_000, '1500ms'],
    [1_105_920, '1105.92ms'],
    [1, '0.001ms'],
  ])('%s microseconds are %s, and that is read back', (micros, expected) => {
    expect(formatDuration(micros)).toBe(expected);
    expect(parseDuration(expected)).toBe(micros);
  });
});

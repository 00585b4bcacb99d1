import { expect, test } from 'vitest';
import { periodEnds } from '../../../src/holdings/statement.ts';
import { parsePeriodLength } from '../../../src/ledger/duration.ts';
import { shortTime } from '../../support/ledger/wire-text.ts';

const micros = (time: string): number => Date.parse(`${time}Z`) * 1000;

test.each([
  ['1d', '2025-02-27T10:00', '2025-03-01T00:00', '2025-02-28T00:00 2025-03-01T00:00'],
  ['1h', '2025-02-27T10:00', '2025-02-27T12:30', '2025-02-27T11:00 2025-02-27T12:00 2025-02-27T12:30'],
  // The 24th and the 3rd are Mondays.
  ['1w', '2025-02-23T23:59', '2025-03-03T00:01', '2025-02-24T00:00 2025-03-03T00:00 2025-03-03T00:01'],
  ['7d', '2025-02-26T00:00', '2025-02-28T00:00', '2025-02-27T00:00 2025-02-28T00:00'],
  ['1mo', '2024-01-31T00:00', '2024-03-02T00:00', '2024-02-01T00:00 2024-03-01T00:00 2024-03-02T00:00'],
  ['1mo', '2024-12-01T00:00', '2025-01-01T00:00', '2025-01-01T00:00'],
  ['all', '2024-01-31T00:00', '2025-03-02T00:00', '2025-03-02T00:00'],
  ['1h', '2025-01-01T00:00', '2025-01-01T00:00', ''],
])('periods of %s from %s to %s end at %s', (length, from, to, ends) => {
  const found = periodEnds({ from: micros(from), to: micros(to) }, parsePeriodLength(length)!);
  expect(found.map((end) => shortTime(end).slice(0, 16)).join(' ')).toBe(ends);
});

test.each([
  ['1h', '2025-01-01T00:00', '2025-07-28T08:00', null],
  ['1h', '2025-01-01T00:00', '2025-07-28T08:01', '1h, which makes more than 5000 periods, expected at least 1d'],
  ['1s', '2025-01-01T00:00', '2025-01-01T02:00', '1s, which makes more than 5000 periods, expected at least 1h'],
  ['1d', '2000-01-01T00:00', '2025-01-01T00:00', '1d, which makes more than 5000 periods, expected at least 1w'],
  ['1w', '1970-01-01T00:00', '2200-01-01T00:00', '1w, which makes more than 5000 periods, expected at least 1mo'],
])('%s from %s to %s is refused with %s', (length, from, to, message) => {
  const ask = (): unknown => periodEnds({ from: micros(from), to: micros(to) }, parsePeriodLength(length)!);
  if (message === null) expect(ask()).toHaveLength(5000);
  else expect(ask).toThrow(`every: given ${message}`);
});

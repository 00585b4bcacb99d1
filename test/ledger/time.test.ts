import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { formatTime, isImportTime, parseLedgerTime, parseRequestTime } from '../../src/ledger/time.ts';

const MILLIS_MAX = Date.UTC(2201, 0, 1) - 1;
const inRange = fc.record({
  millis: fc.integer({ min: 0, max: MILLIS_MAX }),
  micros: fc.integer({ min: 0, max: 999 }),
});

function text({ millis, micros }: { millis: number; micros: number }): string {
  return new Date(millis).toISOString().replace('Z', `${micros.toString().padStart(3, '0')}Z`);
}

describe('parseLedgerTime', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00:00.000001Z', 1],
    ['2025-06-07T08:09:10.1Z', Date.UTC(2025, 5, 7, 8, 9, 10, 100) * 1000],
    ['2200-12-31T23:59:59.999999Z', Date.UTC(2201, 0, 1) * 1000 - 1],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29) * 1000],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29) * 1000],
    ['2100-02-29T00:00:00Z', null],
    ['2025-02-29T00:00:00Z', null],
    ['2025-04-31T00:00:00Z', null],
    ['2025-00-01T00:00:00Z', null],
    ['2025-13-01T00:00:00Z', null],
    ['2025-01-00T00:00:00Z', null],
    ['2025-01-01T24:00:00Z', null],
    ['2025-01-01T00:60:00Z', null],
    ['2025-01-01T00:00:60Z', null],
    ['1969-12-31T23:59:59.999999Z', null],
    ['2201-01-01T00:00:00Z', null],
    ['0001-01-01T00:00:00Z', null],
    ['2025-01-01T00:00:00', null],
    ['2025-01-01T00:00:00z', null],
    ['2025-01-01t00:00:00Z', null],
    ['2025-01-01 00:00:00Z', null],
    ['2025-01-01T00:00Z', null],
    ['2025-01-01T00:00:00.Z', null],
    ['2025-01-01T00:00:00.1234567Z', null],
    ['2025-01-01T00:00:00+00:00', null],
    ['2025-01-01T00:00:00Z\n', null],
    ['+02025-01-01T00:00:00Z', null],
  ])('%j is %s', (time, expected) => {
    expect(parseLedgerTime(time)).toBe(expected);
  });

  it('agrees with Date, to the microsecond', () => {
    fc.assert(
      fc.property(inRange, (time) => {
        expect(parseLedgerTime(text(time))).toBe(time.millis * 1000 + time.micros);
      }),
    );
  });

  it('knows which days exist, as Date does', () => {
    const day = fc.record({
      y: fc.integer({ min: 1970, max: 2199 }),
      m: fc.integer({ min: 0, max: 13 }),
      d: fc.integer({ min: 0, max: 32 }),
    });
    fc.assert(
      fc.property(day, ({ y, m, d }) => {
        const date = new Date(Date.UTC(y, m - 1, d));
        const exists = date.getUTCMonth() === m - 1 && date.getUTCDate() === d;
        const two = (n: number): string => n.toString().padStart(2, '0');
        expect(parseLedgerTime(`${y}-${two(m)}-${two(d)}T00:00:00Z`)).toBe(exists ? date.getTime() * 1000 : null);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('formatTime', () => {
  it('writes days of all months of the years 1 to 9999 as a Date does', () => {
    const first = Date.parse('0001-01-01T00:00:00Z');
    for (let millis = first + 43_199_000; millis < Date.UTC(10_000, 0, 1); millis += 41 * 86_400_000) {
      const expected = `${new Date(millis).toISOString().slice(0, 19)}Z`;
      if (formatTime(BigInt(millis) * 1000n) !== expected) throw new Error(`not written as ${expected}`);
    }
  });

  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [1, '1970-01-01T00:00:00.000001Z'],
    [-1n, '1969-12-31T23:59:59.999999Z'],
    [Date.UTC(2024, 8, 20, 13, 31, 28) * 1000 + 405_180, '2024-09-20T13:31:28.40518Z'],
    [-62_135_596_800_000_000n, '0001-01-01T00:00:00Z'],
  ])('%s is %s', (micros, expected) => {
    expect(formatTime(micros)).toBe(expected);
  });

  it('is read back as the same time', () => {
    fc.assert(
      fc.property(inRange, (time) => {
        const micros = time.millis * 1000 + time.micros;
        expect(parseLedgerTime(formatTime(micros))).toBe(micros);
        expect(parseRequestTime(formatTime(micros))).toBe(BigInt(micros));
      }),
    );
  });
});

describe('parseRequestTime', () => {
  it.each([
    ['2025-02-14T15:00:00Z', '2025-02-14T15:00:00Z'],
    ['2025-02-14T15:00Z', '2025-02-14T15:00:00Z'],
    ['2025-02-14t15:00:00z', '2025-02-14T15:00:00Z'],
    ['2025-02-14T15:00:00.123456789Z', '2025-02-14T15:00:00.123456Z'],
    ['2025-02-14T15:00:00+01:30', '2025-02-14T13:30:00Z'],
    ['2025-02-14T23:00:00-02:00', '2025-02-15T01:00:00Z'],
    ['0001-01-01T00:00:00-18:00', '0001-01-01T18:00:00Z'],
    ['0001-01-01T01:00:00+01:00', '0001-01-01T00:00:00Z'],
    ['9999-12-31T22:59:59-01:00', '9999-12-31T23:59:59Z'],
    ['0050-03-01T00:00:00Z', '0050-03-01T00:00:00Z'],
    ['1900-02-28T00:00:00Z', '1900-02-28T00:00:00Z'],
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('%s is %s', (time, expected) => {
    expect(formatTime(parseRequestTime(time)!)).toBe(expected);
  });

  it.each([
    '2025-02-14T15:00:00',
    '2025-02-14 15:00:00Z',
    '2025-02-14',
    '2025-02-14T15:00:60Z',
    '2025-02-14T24:00:00Z',
    '1900-02-29T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '0000-12-31T23:59:59-05:00',
    '0001-01-01T00:59:59+01:00',
    '9999-12-31T23:00:00-01:00',
    '9999-12-31T23:59:59-05:00',
    '2025-02-14T15:00:00.Z',
    '2025-02-14T15:00:00.1234567890Z',
    '2025-02-14T15:00:00+24:00',
    '2025-02-14T15:00:00+01:60',
    '2025-02-14T15:00:00+0100',
    '',
  ])('%j is none', (time) => {
    expect(parseRequestTime(time)).toBeNull();
  });

  it('agrees with Date for every offset', () => {
    const offset = fc.integer({ min: -(24 * 60 - 1), max: 24 * 60 - 1 });
    fc.assert(
      fc.property(inRange, offset, (time, minutes) => {
        const size = Math.abs(minutes);
        const two = (n: number): string => n.toString().padStart(2, '0');
        const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const expected = BigInt(time.millis - minutes * 60_000) * 1000n + BigInt(time.micros);
        expect(parseRequestTime(text(time).replace('Z', zone))).toBe(expected);
      }),
    );
  });
});

describe('isImportTime', () => {
  it.each([
    ['0001-01-01T00:00:00Z', true],
    ['0001-01-01T00:00:00.0Z', true],
    ['0001-01-01T00:00:00.000000Z', true],
    ['0001-01-01T00:00:00.000001Z', false],
    ['0001-01-01T00:00:00.0000000Z', false],
    ['0001-01-02T00:00:00Z', false],
    ['1970-01-01T00:00:00Z', false],
  ])('%s: %s', (time, expected) => {
    expect(isImportTime(time)).toBe(expected);
  });
});

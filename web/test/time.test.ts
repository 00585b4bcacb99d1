import { describe, expect, it } from 'vitest';
import { startOf, stepsFor } from '../src/data/range.ts';
import { durationMs, fieldOf, showDuration, showSpan, showTime, timeOfField } from '../src/data/time.ts';

describe('times on the dashboard', () => {
  it.each([
    ['2025-02-12T00:30:00Z', '2025-02-12 00:30'],
    ['2025-02-12T00:30:07Z', '2025-02-12 00:30:07'],
    ['2024-09-20T13:31:28.40518Z', '2024-09-20 13:31:28.40518'],
    ['2024-09-20T13:31:00.40518Z', '2024-09-20 13:31:00.40518'],
  ])('%s is shown as %s', (time, shown) => {
    expect(showTime(time)).toBe(shown);
  });

  it.each([
    [0, '0 seconds'],
    [1, '1 second'],
    [59.9, '59 seconds'],
    [60, '1 minute'],
    [7199, '1 hour'],
    [86_400 * 400, '400 days'],
    [-3, '0 seconds'],
  ])('%s seconds are %s', (seconds, shown) => {
    expect(showSpan(seconds)).toBe(shown);
  });

  it.each(['1s', '90s', '10m', '6h', '7d', '500ms'])('the duration %s stays the same', (text) => {
    expect(showDuration(durationMs(text))).toBe(text);
  });

  it('go into a field and come out of it', () => {
    expect(fieldOf('2025-02-12T00:30:00Z')).toBe('2025-02-12T00:30:00');
    expect(timeOfField('2025-02-12T00:30:01')).toBe('2025-02-12T00:30:01Z');
    expect(timeOfField('2025-02-12T00:30')).toBe('2025-02-12T00:30:00Z');
  });
});

describe('the range of a chart', () => {
  const TEN_MINUTES = 600_000;

  it.each([
    ['2025-02-12T00:10:00Z', '2025-02-12T04:00:00Z', ['10m', '1h']],
    ['2025-02-12T00:00:00Z', '2025-03-05T00:00:00Z', ['1h', '6h', '1d', '7d']],
    ['2025-01-01T00:00:00Z', '2055-01-01T00:00:00Z', ['14d']],
    ['2025-02-12T00:10:00Z', '2025-02-12T00:10:00Z', ['10m']],
    ['2025-02-12T00:00:00Z', '2025-02-18T22:40:00Z', ['1h', '6h', '1d']],
    ['2025-02-12T00:00:00Z', '2025-02-18T22:30:00Z', ['10m', '1h', '6h', '1d']],
  ])('from %s to %s has the steps %j', (from, to, steps) => {
    expect(stepsFor({ from, to }, TEN_MINUTES)).toEqual(steps);
    const least = durationMs(stepsFor({ from, to }, TEN_MINUTES)[0]!);
    expect(Math.floor((Date.parse(to) - Date.parse(from)) / least) + 1).toBeLessThanOrEqual(1000);
  });

  it('of a span ends at the newest snapshot and begins no earlier than the first', () => {
    const ends = { oldest: '2025-02-12T00:10:00Z', newest: '2025-02-14T00:00:00Z' };
    expect(startOf('24h', ends)).toBe('2025-02-13T00:00:00Z');
    expect(startOf('7d', ends)).toBe(ends.oldest);
    expect(startOf('all', ends)).toBe(ends.oldest);
  });
});

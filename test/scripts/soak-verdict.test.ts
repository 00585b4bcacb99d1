import { describe, expect, it } from 'vitest';
import { Tally } from '../../scripts/soak/tally.ts';
import { judge, type Window } from '../../scripts/soak/verdict.ts';

const latency = (p99Ms: number): Window['latencies'][string] => ({ requests: 100, p50Ms: 1, p99Ms, longestMs: p99Ms });

/** An hour of windows, one a minute; `change` makes one of them another. */
function windows(change: (minute: number) => Partial<Window>): Window[] {
  return Array.from({ length: 60 }, (_, at) => ({
    minutes: at + 1,
    residentMiB: 500,
    eventsFed: 240_000 * (at + 1),
    eventsApplied: 240_000,
    eventsPerSecond: 4_000,
    viewsMiB: 100,
    latencies: { summary: latency(10), page: latency(10), deep: latency(10), bare: latency(5) },
    compared: 10,
    statuses: { 200: 100 },
    badRequests: 100,
    faults: [],
    faultCount: 0,
    ...change(at + 1),
  }));
}

describe('the verdict of a soak', () => {
  it.each<[string, (minute: number) => Partial<Window>, string[]]>([
    ['nothing where all stays as it is', () => ({}), []],
    ['nothing of the growth of the warm-up', (minute) => ({ residentMiB: minute <= 5 ? 200 : 500 }), []],
    ['nothing of a single window', (minute) => ({ residentMiB: minute === 50 ? 5_000 : 500 }), []],
    [
      'memory that grows a little all the time',
      (minute) => ({ residentMiB: 500 + 2 * minute }),
      ['resident memory, MiB: grew to 1.16 x, at most 1.15 x is allowed'],
    ],
    [
      'readers who wait longer and longer',
      (minute) => ({ latencies: { summary: latency(minute), page: latency(10) } }),
      ['p99 of summaries, ms: grew to 5.05 x, at most 2.00 x is allowed'],
    ],
    [
      'nothing of a machine that grows slower',
      (minute) => ({ latencies: { summary: latency(minute), page: latency(minute), bare: latency(minute) } }),
      [],
    ],
    [
      'a single wrong answer',
      (minute) => (minute === 7 ? { faults: ['500 for GET /x'], faultCount: 1 } : {}),
      ['1 wrong answers, the first: 500 for GET /x'],
    ],
    [
      'an ingest that makes no progress',
      (minute) => (minute > 58 ? { eventsApplied: 0 } : {}),
      ['2 windows without an event applied'],
    ],
    ['a soak that compared nothing', () => ({ compared: 0 }), ['no answer was compared with an earlier one']],
  ])('names %s', (_, change, failures) => {
    expect(judge(windows(change)).failures).toEqual(failures);
  });

  it('does not take a soak that ended at once for a good one', () => {
    expect(judge([]).failures).not.toEqual([]);
  });
});

it('a tally says of each group and status what was counted since the report before, and names the first faults', () => {
  const tally = new Tally();
  for (let ms = 1; ms <= 100; ms++) tally.answered('page', 200, ms);
  tally.answered('summary', 400, 3);
  tally.answered('page', 200, 31_000);
  for (let at = 0; at < 20; at++) tally.fault(`fault ${at}`);
  expect(tally.report()).toMatchObject({
    latencies: { page: { requests: 101, p50Ms: 51 }, summary: { requests: 1, p50Ms: 3, p99Ms: 3, longestMs: 3 } },
    statuses: { 200: 101, 400: 1 },
    faultCount: 21,
    faults: ['a request of the page took 31 s', 'fault 0', 'fault 1', 'fault 2', 'fault 3'],
  });
  expect(tally.report()).toMatchObject({ latencies: {}, statuses: {}, faults: [] });
});

import { describe, expect, it } from 'vitest';
import { createPauses, type RetryPolicy, retry } from '../src/retry.ts';

const POLICY: RetryPolicy = {
  firstMs: 100,
  longestMs: 500,
  forMsMax: null,
  passes: (error) => (error as Error).message === 'passes',
};
const passing = new Error('passes');

/** A clock that only waiting moves on. */
function standingClock() {
  let nowMs = 1_000;
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
    nowMs += ms;
  };
  return { nowMs: () => nowMs, wait, waits };
}

/** A step that fails so often. */
function failing(times: number): () => string {
  return () => {
    times -= 1;
    if (times >= 0) throw passing;
    return 'done';
  };
}

describe('a step that fails', () => {
  it.each([
    [0, []],
    [1, [100]],
    [4, [100, 200, 400, 500]],
    [6, [100, 200, 400, 500, 500, 500]],
  ])('%i times is tried again after pauses that grow up to the longest', async (times, waits) => {
    const clock = standingClock();
    let recoveries = 0;
    const step = failing(times);
    expect(await retry(POLICY, step, { ...clock, onRecovery: () => recoveries++ })).toBe('done');
    expect([clock.waits, recoveries]).toEqual([waits, times === 0 ? 0 : 1]);
  });

  it('is tried for so long, and then its error is thrown', async () => {
    const clock = standingClock();
    const left: number[] = [];
    const policy = { ...POLICY, forMsMax: 1_000 };
    const onFailure = ({ leftMs }: { leftMs: number }): void => void left.push(leftMs);
    await expect(retry(policy, failing(Infinity), { ...clock, onFailure })).rejects.toBe(passing);
    expect([clock.waits, left]).toEqual([
      [100, 200, 400, 300],
      [1_000, 900, 700, 300],
    ]);
  });

  it('with what does not pass is not tried again', async () => {
    const clock = standingClock();
    const other = new Error('other');
    const step = (): never => {
      throw other;
    };
    await expect(retry(POLICY, step, clock)).rejects.toBe(other);
    expect(clock.waits).toEqual([]);
  });

  it('is not tried again once aborted, however long the pause', async () => {
    const stop = new AbortController();
    const policy = { ...POLICY, firstMs: 600_000, longestMs: 600_000 };
    let tried = 0;
    const step = (): never => {
      tried += 1;
      throw passing;
    };
    const onFailure = (): void => void setImmediate(() => stop.abort());
    await expect(retry(policy, step, { signal: stop.signal, onFailure })).rejects.toBe(passing);
    expect(tried).toBe(1);
    await expect(retry(policy, step, { signal: stop.signal, onFailure })).rejects.toBe(passing);
    expect(tried).toBe(2);
  });
});

describe('pauses between failures', () => {
  it('begin again after a success, and so does the time for which it is tried', async () => {
    const clock = standingClock();
    const pauses = createPauses({ ...POLICY, forMsMax: 1_000 }, clock);
    const onFailure = (): void => {};
    for (let round = 0; round < 3; round++) {
      for (let times = 0; times < 3; times++) await pauses.afterFailure(passing, onFailure);
      pauses.afterSuccess();
    }
    expect(clock.waits).toEqual([100, 200, 400, 100, 200, 400, 100, 200, 400]);
  });
});

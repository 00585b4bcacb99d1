import { addDuration, type Durations, noDurations } from '../durations.ts';

/** What is timed of the ingest; plain data, which goes from thread to thread. */
export type Timings = Readonly<Record<'commit' | 'seal' | 'decode', Durations>>;

/**
 * The bounds lie around what was measured (docs/figures.md): a commit takes a millisecond of a few updates and seconds of
 * 100,000 events; sealing takes a millisecond, and 20 of thousands of changes; a chunk of a mebibyte takes 10 to 20 to decode.
 */
export function noTimings(): Timings {
  return {
    commit: noDurations([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
    seal: noDurations([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]),
    decode: noDurations([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]),
  };
}

/**
 * Times each call of a method, of all objects of a class, from outside: what is timed knows nothing of it. A call that throws is not
 * counted.
 */
export function timeCalls<Name extends string>(
  prototype: Record<Name, (...given: never[]) => unknown>,
  name: Name,
  durations: Durations,
): void {
  const method = prototype[name] as (...given: unknown[]) => unknown;
  prototype[name] = function (this: unknown, ...given: unknown[]): unknown {
    const startMs = performance.now();
    const result = method.apply(this, given);
    addDuration(durations, (performance.now() - startMs) / 1000);
    return result;
  };
}

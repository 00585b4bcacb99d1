import { SingleBar } from 'cli-progress';
import { rounded } from '../../bench/table.ts';
import type { Window } from './verdict.ts';

/** Shows how far the soak is: a bar on a terminal that has columns, else a line for each window. */
export interface SoakProgress extends Disposable {
  update(window: Window): void;
}

export function createSoakProgress(minutes: number, stderr: NodeJS.WriteStream): SoakProgress {
  const toShow = (window: Window): string => `${rounded(window.minutes)} of ${minutes} minutes | ${describe(window)}`;
  if (!(stderr.isTTY && stderr.columns > 0)) {
    return { update: (window) => console.error(toShow(window)), [Symbol.dispose]() {} };
  }
  const bar = new SingleBar({ stream: stderr, format: '{bar} {shown}', hideCursor: true });
  bar.start(minutes, 0, { shown: '' });
  return {
    update: (window) => bar.update(Math.min(minutes, window.minutes), { shown: toShow(window) }),
    [Symbol.dispose]: () => bar.stop(),
  };
}

function describe({ residentMiB, eventsPerSecond, latencies, badRequests, faultCount }: Window): string {
  const p99 = rounded(latencies.summary?.p99Ms ?? Number.NaN);
  const wrong = faultCount === 0 ? '' : `, ${faultCount} WRONG ANSWERS`;
  const read = `${latencies.summary?.requests ?? 0} summaries, p99 ${p99} ms`;
  return `${rounded(residentMiB)} MiB, ${rounded(eventsPerSecond)} events/s, ${read}, ${badRequests} bad requests${wrong}`;
}

import { median } from '../../bench/median.ts';
import type { Latency } from './tally.ts';

/** What was measured from one look at the service to the next. */
export interface Window {
  /** Since the soak began. */
  readonly minutes: number;
  readonly residentMiB: number;
  readonly eventsFed: number;
  readonly eventsApplied: number;
  readonly eventsPerSecond: number;
  readonly viewsMiB: number;
  /** Of good requests, by their group. */
  readonly latencies: Readonly<Record<string, Latency>>;
  readonly compared: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly badRequests: number;
  readonly faults: readonly string[];
  readonly faultCount: number;
}

export interface Figure {
  readonly what: string;
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  /** Null where it is only shown. */
  readonly growthMax: number | null;
}

export interface Verdict {
  readonly figures: readonly Figure[];
  /** False where the soak was too short to say anything of memory. */
  readonly judgesMemory: boolean;
  readonly failures: readonly string[];
}

/** Of the whole time: what is early, after the warm-up, and what is late. */
const EARLY = { from: 1 / 12, to: 1 / 4 };
const LATE = { from: 3 / 4, to: 1 };

const MEMORY_GROWTH_MAX = 1.15;
/**
 * V8 lets the heap of the main thread grow from some 60 to some 220 MiB over four to seven minutes, and then gives it back: an
 * early and a late part that are shorter than that are at different places of it.
 */
export const MEMORY_MINUTES_MIN = 30;
/** Of the p99 while the machine is as fast as before; where a bare server has slowed down too, by as much more. */
const P99_GROWTH_MAX = 2;
/** Below this a p99 is a matter of the machine's timers, and twice as much does no harm. */
const P99_MS_MIN = 2;

/** Judges whether the service is at the end what it was at the beginning, by medians, which a moment's noise does not move. */
export function judge(windows: readonly Window[]): Verdict {
  const minutes = windows.at(-1)?.minutes ?? 0;
  const judgesMemory = minutes >= MEMORY_MINUTES_MIN;
  const within = ({ from, to }: { from: number; to: number }): Window[] =>
    windows.filter((window) => window.minutes > from * minutes && window.minutes <= to * minutes);
  const [early, late] = [within(EARLY), within(LATE)];
  const figure = (what: string, of: (window: Window) => number, growthMax: number | null): Figure => {
    const [before, after] = [median(early.map(of)), median(late.map(of))];
    return { what, early: before, late: after, growth: after / before, growthMax };
  };
  const p99 = (group: string) => (window: Window) => Math.max(P99_MS_MIN, window.latencies[group]?.p99Ms ?? P99_MS_MIN);
  const bare = figure('p99 of a bare server beside it, ms', p99('bare'), null);
  const p99GrowthMax = P99_GROWTH_MAX * Math.max(1, bare.growth);
  const figures = [
    figure('resident memory, MiB', ({ residentMiB }) => residentMiB, judgesMemory ? MEMORY_GROWTH_MAX : null),
    figure('p99 of summaries, ms', p99('summary'), p99GrowthMax),
    figure('p99 of pages, ms', p99('page'), p99GrowthMax),
    figure('p99 of tables of /holdfast/v1, ms', p99('table'), p99GrowthMax),
    figure('p99 of /metrics, ms', p99('metrics'), p99GrowthMax),
    figure('p99 of large owners at old snapshots, ms', p99('deep'), null),
    bare,
    figure('events applied per second', ({ eventsPerSecond }) => eventsPerSecond, null),
  ];
  return { figures, judgesMemory, failures: [...grown(figures), ...faultsOf(windows)] };
}

/** Whether a figure grew beyond its bound. */
export function isGrown({ growth, growthMax }: Figure): boolean {
  return growthMax !== null && !(growth <= growthMax);
}

function grown(figures: readonly Figure[]): string[] {
  return figures
    .filter(isGrown)
    .map(
      ({ what, growth, growthMax }) =>
        `${what}: grew to ${growth.toFixed(2)} x, at most ${growthMax?.toFixed(2)} x is allowed`,
    );
}

function faultsOf(windows: readonly Window[]): string[] {
  const count = windows.reduce((sum, { faultCount }) => sum + faultCount, 0);
  const still = windows.filter(({ eventsApplied }) => eventsApplied === 0).length;
  const compared = windows.reduce((sum, window) => sum + window.compared, 0);
  return [
    ...(count === 0 ? [] : [`${count} wrong answers, the first: ${windows.flatMap(({ faults }) => faults)[0]}`]),
    ...(still === 0 ? [] : [`${still} windows without an event applied`]),
    ...(compared > 0 ? [] : ['no answer was compared with an earlier one']),
  ];
}

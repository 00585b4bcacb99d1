import { showDuration } from './time.ts';

/** The part of time that a chart shows. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

export const SPANS = { '24h': '24 h', '7d': '7 d', '30d': '30 d', all: 'All' } as const;
export type Span = keyof typeof SPANS;

const DAY_MS = 86_400_000;
const SPAN_MS: Readonly<Record<Exclude<Span, 'all'>, number>> = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS };

/** As many as the service gives in one answer, and more than a chart has pixels. */
const POINTS_MAX = 1000;
/** The distances that may be chosen, in periods of the snapshots: the period, an hour, six, a day and a week where it is ten minutes. */
const STEPS = [1, 6, 36, 144, 1008];

/** Where a span before the newest snapshot begins. */
export function startOf(span: Span, { oldest, newest }: { readonly oldest: string; readonly newest: string }): string {
  if (span === 'all') return oldest;
  const start = new Date(Date.parse(newest) - SPAN_MS[span]).toISOString().replace('.000Z', 'Z');
  return Date.parse(start) < Date.parse(oldest) ? oldest : start;
}

/** The distances between points with which a range has few enough of them; never none. */
export function stepsFor({ from, to }: Range, periodMs: number): readonly string[] {
  const length = Date.parse(to) - Date.parse(from);
  const fitting = STEPS.map((count) => count * periodMs).filter((step) => length / step < POINTS_MAX);
  const largest = STEPS.at(-1)! * periodMs;
  const steps = fitting.length > 0 ? fitting : [(Math.floor(length / POINTS_MAX / largest) + 1) * largest];
  return steps.filter((step, index) => index === 0 || step < length).map(showDuration);
}

/** Times of the answers (`2025-02-12T00:30:00Z`) are shown in UTC. */

/** `2025-02-12 00:30` of a snapshot of the grid, else with seconds; `precise` always has them. Fractions are left out. */
export function showTime(time: string, precise = false): string {
  const [day = '', clock = ''] = time.replace(/(\.\d+)?Z$/, '').split('T');
  return `${day} ${precise ? clock : clock.replace(/:00$/, '')}`;
}

/** In the time zone of the browser. */
export function localTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}

const UNITS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', Number.POSITIVE_INFINITY],
] as const;

/** `3 minutes`, in the largest unit that fits. */
export function showSpan(seconds: number): string {
  let count = Math.max(0, seconds);
  for (const [name, size] of UNITS) {
    if (count < size) {
      const whole = Math.floor(count);
      return `${whole} ${name}${whole === 1 ? '' : 's'}`;
    }
    count /= size;
  }
  throw new Error('days have no end');
}

/** `4 s`, `3 min`, `2 h`, `5 d`. */
export function showShortSpan(seconds: number): string {
  const [count, unit = ''] = showSpan(seconds).split(' ');
  return `${count} ${unit.startsWith('m') ? 'min' : unit[0]}`;
}

/** `3 minutes ago`, by the browser's clock. */
export function ageOf(time: string, nowMs: number): string {
  return `${showSpan((nowMs - Date.parse(time)) / 1000)} ago`;
}

const SIZES: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration as the API prints it, such as `10m`. */
export function durationMs(text: string): number {
  const [, count = '0', unit = 'ms'] = /^(\d+)([a-z]+)$/.exec(text) ?? [];
  return Number(count) * (SIZES[unit] ?? 1);
}

/** In the largest unit that divides it, such as `6h`. */
export function showDuration(ms: number): string {
  const [unit, size] = Object.entries(SIZES).findLast(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?)?(?: ?UTC|Z)?$/;

/** The time that a person typed: `2025-02-12`, `2025-02-12 00:30`, or `-7d` before the newest snapshot. Null if it is none. */
export function parseMoment(text: string, newest: string): string | null {
  const back = /^-(\d{1,5}[mhd])$/.exec(text.trim());
  if (back !== null) return instant(Date.parse(newest) - durationMs(back[1]!));
  const [, day, clock = '00:00', seconds = ':00'] = MOMENT.exec(text.trim()) ?? [];
  const time = `${day}T${clock}${seconds}Z`;
  return day === undefined || Number.isNaN(Date.parse(time)) ? null : time;
}

/** Whether a text is a time as the service reads it. */
export function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Without a fraction of zeros. */
export function instant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** A microsecond after the time of a snapshot of the grid or the end of a period, which are whole seconds. */
export function microAfter(time: string): string {
  return time.replace(/Z$/, '.000001Z');
}

/** The times that a chart shows. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

export const SPANS = { '24h': '24 h', '7d': '7 d', '30d': '30 d', all: 'All' } as const;
export type Span = keyof typeof SPANS;

export const DAY_MS = 86_400_000;
const SPAN_MS: Readonly<Record<Exclude<Span, 'all'>, number>> = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS };

/** The most in one answer of the service. */
export const POINTS_MAX = 1000;
/** Steps to choose from, beside the snapshot period; all are multiples of it that are larger. */
const STEPS = [60_000, 600_000, 3_600_000, 21_600_000, DAY_MS, 7 * DAY_MS];
/** Of a chart of changes. */
export const CHANGE_STEPS = [DAY_MS, 7 * DAY_MS];

/** The start of a span that ends at the newest snapshot. */
export function startOf(span: Span, { oldest, newest }: { readonly oldest: string; readonly newest: string }): string {
  if (span === 'all') return oldest;
  const start = instant(Date.parse(newest) - SPAN_MS[span]);
  return Date.parse(start) < Date.parse(oldest) ? oldest : start;
}

/** The steps with which a range has less than POINTS_MAX points; at least one. */
export function stepsFor({ from, to }: Range, periodMs: number, sizes = STEPS): readonly string[] {
  const length = Date.parse(to) - Date.parse(from);
  const all = [periodMs, ...sizes.filter((size) => size > periodMs && size % periodMs === 0)];
  const fitting = all.filter((step) => length / step < POINTS_MAX);
  const largest = Math.max(...all);
  const steps = fitting.length > 0 ? fitting : [(Math.floor(length / POINTS_MAX / largest) + 1) * largest];
  return steps.filter((step, index) => index === 0 || step < length).map(showDuration);
}

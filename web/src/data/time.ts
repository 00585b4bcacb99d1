/** Times of the answers (`2025-02-12T00:30:00Z`), shown as they are, in UTC. */

/** `2025-02-12 00:30`, with seconds and their fraction only where there are any. */
export function showTime(time: string): string {
  const [day = '', clock = ''] = time.replace('Z', '').split('T');
  return `${day} ${clock.replace(/:00$/, '')}`;
}

/** The same moment in the reader's own time zone. */
export function localTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}

const UNITS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', Number.POSITIVE_INFINITY],
] as const;

/** `3 minutes`, in the largest unit of which there is at least one. */
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

/** How long ago a time was; our clock and that of the ledger may differ a little. */
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

/** What a `datetime-local` field holds for a time, and back; the field is in UTC. */
export function fieldOf(time: string): string {
  return time.replace(/(\.\d+)?Z$/, '');
}

export function timeOfField(value: string): string {
  return `${value.length === 16 ? `${value}:00` : value}Z`;
}

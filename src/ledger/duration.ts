/** Microseconds in each unit a duration may be written in, the largest first. */
const UNIT_US = { d: 86_400_000_000, h: 3_600_000_000, m: 60_000_000, s: 1_000_000, ms: 1_000 } as const;
type Unit = keyof typeof UNIT_US;

const DURATION = /^(\d{1,12})(?:\.(\d{1,6}))?(ms|s|m|h|d)$/;

export const DURATION_EXPECTED = 'a duration such as 500ms, 30s, 10m, 3h or 1d';

/** Microseconds of a duration such as `10m` or `1.5h`; null where the text is none, or is no whole number of microseconds below 2^53. */
export function parseDuration(text: string): number | null {
  const m = DURATION.exec(text);
  if (m === null) return null;
  const fraction = m[2] ?? '';
  const scaled = BigInt(m[1] + fraction) * BigInt(UNIT_US[m[3] as Unit]);
  const scale = 10n ** BigInt(fraction.length);
  const micros = Number(scaled / scale);
  return scaled % scale === 0n && Number.isSafeInteger(micros) ? micros : null;
}

/** A duration as `parseDuration` reads it: a number and the largest unit without a remainder, else milliseconds. */
export function formatDuration(micros: number): string {
  const [unit, size] = Object.entries(UNIT_US).find(([, each]) => micros % each === 0) ?? ['ms', UNIT_US.ms];
  return `${micros / size}${unit}`;
}

const CALENDAR = ['1w', '1mo', 'all'] as const;

/** How long the periods of a statement are: microseconds, or by the calendar in UTC. */
export type PeriodLength = number | (typeof CALENDAR)[number];

export const PERIOD_LENGTH_EXPECTED = `1w, 1mo, all or ${DURATION_EXPECTED}`;

/** Null where the text is none. */
export function parsePeriodLength(text: string): PeriodLength | null {
  return CALENDAR.find((each) => each === text) ?? (parseDuration(text) || null);
}

export function formatPeriodLength(length: PeriodLength): string {
  return typeof length === 'number' ? formatDuration(length) : length;
}

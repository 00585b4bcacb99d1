/** Ledger times are microseconds since 1970 UTC; within 1970-2200 they fit a double exactly. */
export type Micros = number;

export const MICROS_PER_SECOND = 1_000_000;
export const LEDGER_TIME_MIN: Micros = 0;
export const LEDGER_TIME_MAX: Micros = Date.UTC(2200, 0, 1) * 1000;
export const LEDGER_TIME_EXPECTED = 'a UTC time in 1970-2200 such as "2025-02-14T15:00:00.123456Z"';

const LEDGER_TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?Z$/;
const REQUEST_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const IMPORT_TIME = /^0001-01-01T00:00:00(?:\.0{1,6})?Z$/;

/** The record time of an import update: a flag, not a time (design.md section 6, rule 5). */
export function isImportTime(text: string): boolean {
  return IMPORT_TIME.test(text);
}

/** A time as a feed writes it: 0 to 6 fraction digits and Z, in 1970-2200. Null where it is not one. */
export function parseLedgerTime(text: string): Micros | null {
  const m = LEDGER_TIME.exec(text);
  if (m === null) return null;
  const seconds = utcSeconds(m);
  if (seconds === null) return null;
  const micros = seconds * MICROS_PER_SECOND + Number((m[7] ?? '').padEnd(6, '0'));
  return micros >= LEDGER_TIME_MIN && micros < LEDGER_TIME_MAX ? micros : null;
}

/**
 * A time as a request may write it: RFC 3339 with Z or an offset, seconds optional, up to 9 fraction digits floored
 * to microseconds. A bigint, because the years 1-9999 do not fit a double in microseconds.
 */
export function parseRequestTime(text: string): bigint | null {
  const m = REQUEST_TIME.exec(text);
  if (m === null) return null;
  const seconds = utcSeconds(m);
  const offset = m[8] === undefined ? 0 : offsetSeconds(m[8], Number(m[9]), Number(m[10]));
  if (seconds === null || offset === null) return null;
  return BigInt(seconds - offset) * 1_000_000n + BigInt((m[7] ?? '').slice(0, 6).padEnd(6, '0'));
}

function utcSeconds(m: RegExpExecArray): number | null {
  const [year, month, day, hour, minute, second] = [+m[1]!, +m[2]!, +m[3]!, +m[4]!, +m[5]!, +(m[6] ?? 0)];
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second;
}

function offsetSeconds(sign: string, hours: number, minutes: number): number | null {
  if (hours > 18 || minutes > 59 || (hours === 18 && minutes > 0)) return null;
  return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** UTC with Z, seconds always, the fraction without trailing zeros: `2024-09-20T13:31:28.40518Z`. */
export function formatTime(micros: Micros | bigint): string {
  const exact = BigInt(micros);
  const fraction = ((exact % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((exact - fraction) / 1000n)).toISOString().slice(0, 19);
  return fraction === 0n ? `${date}Z` : `${date}.${fraction.toString().padStart(6, '0').replace(/0+$/, '')}Z`;
}

const DURATION_UNITS = [
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['m', 60_000_000],
  ['s', 1_000_000],
  ['ms', 1000],
] as const;

/** A duration as a setting writes it: a number and the largest unit that leaves no rest. */
export function formatDuration(micros: number): string {
  const [unit, size] = DURATION_UNITS.find(([, each]) => micros % each === 0) ?? ['us', 1];
  return `${micros / size}${unit}`;
}

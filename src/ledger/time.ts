import { BadUpdate } from './bad-update.ts';

/** Ledger times are microseconds since 1970 UTC; within 1970-2200 they fit a double exactly. */
export type Micros = number;

export const LEDGER_TIME_MIN: Micros = 0;
export const LEDGER_TIME_MAX: Micros = Date.UTC(2201, 0, 1) * 1000;
export const LEDGER_TIME_EXPECTED = 'a UTC time in 1970-2200 such as "2025-02-14T15:00:00.123456Z"';
/**
 * The largest migration id of a stream engine's store, in which one clock goes through all migrations: with more of them it would pass
 * the year 9999, the last of SQL engines.
 */
export const FLAT_MIGRATION_MAX = 78;

const LEDGER_TIME = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;
const FRACTION_START = 20;
const DIGIT_ZERO = 0x30;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
/** From 0001-01-01 to 1970-01-01. */
const DAYS_TO_1970 = 719_162;
const DAYS_FROM_MARCH_0000 = 719_468;
const DAYS_IN_400_YEARS = 146_097;
const REQUEST_TIME =
  /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const IMPORT_TIME = /^0001-01-01T00:00:00(?:\.0{1,6})?Z$/;

/** The record time of an import update: a flag, not a time (docs/rules.md, rule 5). */
export function isImportTime(text: string): boolean {
  return IMPORT_TIME.test(text);
}

/**
 * A time as a feed writes it: 0 to 6 fraction digits and Z, in 1970-2200. Null where it is not one. Read digit by
 * digit, because every event has one and a Date costs several times as much.
 */
export function parseLedgerTime(text: string): Micros | null {
  if (!LEDGER_TIME.test(text)) return null;
  const minute = minuteOf(text);
  if (minute === null) return null;
  let micros = minute + digitsAt(text, 17, 19);
  for (let i = FRACTION_START; i < FRACTION_START + 6; i++) {
    micros = micros * 10 + (i < text.length - 1 ? text.charCodeAt(i) - DIGIT_ZERO : 0);
  }
  return micros >= LEDGER_TIME_MIN && micros < LEDGER_TIME_MAX ? micros : null;
}

function digitsAt(text: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) value = value * 10 + text.charCodeAt(i) - DIGIT_ZERO;
  return value;
}

/** The years that RFC 3339 has: an offset must not lead out of them, because no answer could contain that time. */
const REQUEST_SECONDS_MIN = Date.parse('0001-01-01T00:00:00Z') / 1000;
const REQUEST_SECONDS_END = Date.UTC(10_000, 0, 1) / 1000;

/**
 * A time as a request may write it: RFC 3339 with Z or an offset, seconds optional, up to 9 fraction digits floored
 * to microseconds; in UTC within the years 1-9999. A bigint, because those do not fit a double in microseconds.
 */
export function parseRequestTime(text: string): bigint | null {
  const m = REQUEST_TIME.exec(text);
  if (m === null) return null;
  const minute = minuteOf(text);
  if (minute === null) return null;
  const [, seconds = '0', fraction = '', sign, offsetHours, offsetMinutes] = m;
  const offset = sign === undefined ? 0 : Number(offsetHours) * 3600 + Number(offsetMinutes) * 60;
  const utc = minute + Number(seconds) + (sign === '-' ? offset : -offset);
  if (utc < REQUEST_SECONDS_MIN || utc >= REQUEST_SECONDS_END) return null;
  return BigInt(utc) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/** Seconds since 1970 to the minute that a text begins with, `2025-02-14T15:00`; null where there is no such day. */
function minuteOf(text: string): number | null {
  const year = digitsAt(text, 0, 4);
  const month = digitsAt(text, 5, 7);
  const day = digitsAt(text, 8, 10);
  if (year < 1 || month < 1 || month > 12) return null;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const monthDays = month === 2 && isLeap ? 29 : MONTH_DAYS[month - 1]!;
  if (day < 1 || day > monthDays) return null;
  const hours = (daysTo(year, month, isLeap) + day - 1) * 24 + digitsAt(text, 11, 13);
  return hours * 3600 + digitsAt(text, 14, 16) * 60;
}

/** Days from 1970-01-01 to the first of a month in the Gregorian calendar; negative before. */
function daysTo(year: number, month: number, isLeap: boolean): number {
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  return past * 365 + leapDays - DAYS_TO_1970 + DAYS_BEFORE_MONTH[month - 1]! + (isLeap && month > 2 ? 1 : 0);
}

/**
 * UTC with Z, seconds always, the fraction without trailing zeros: `2024-09-20T13:31:28.40518Z`. Worked out here, because a page
 * has a thousand of them and a Date takes three times as long.
 */
export function formatTime(micros: Micros | bigint): string {
  const [seconds, fraction] = typeof micros === 'number' ? splitSeconds(micros) : splitBigSeconds(micros);
  const days = Math.floor(seconds / 86_400);
  const second = seconds - days * 86_400;
  const hour = Math.floor(second / 3600);
  const clock = `${twoDigits(hour)}:${twoDigits(Math.floor(second / 60) % 60)}:${twoDigits(second % 60)}`;
  const digits = fraction === 0 ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
  return `${dateOf(days)}T${clock}${digits}Z`;
}

function splitSeconds(micros: number): readonly [seconds: number, micros: number] {
  const seconds = Math.floor(micros / 1_000_000);
  return [seconds, micros - seconds * 1_000_000];
}

function splitBigSeconds(micros: bigint): readonly [seconds: number, micros: number] {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return [Number((micros - fraction) / 1_000_000n), Number(fraction)];
}

/** The date of a day since 1970, of the years 0-9999. Years are counted from March, so that a leap day is the last of its year. */
function dateOf(days: number): string {
  const fromMarch = days + DAYS_FROM_MARCH_0000;
  const era = Math.floor(fromMarch / DAYS_IN_400_YEARS);
  const inEra = fromMarch - era * DAYS_IN_400_YEARS;
  const leapDays = Math.floor(inEra / 1460) - Math.floor(inEra / 36_524) + Math.floor(inEra / 146_096);
  const yearOfEra = Math.floor((inEra - leapDays) / 365);
  const inYear = inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  // From March on, any five months in a row have 153 days.
  const monthFromMarch = Math.floor((5 * inYear + 2) / 153);
  const day = inYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** How far a record time may be after our clock and after the time reached; further halts, whatever the policy (docs/rules.md, rule 6). */
export interface ClockRules {
  /** Our clock, microseconds: one reading for a range of messages. */
  readonly now: Micros;
  readonly recordTimeAheadMaxUs: number;
  readonly recordTimeGapMaxUs: number;
}

/** `timeReached`: the migration's; null before its first update. */
export function checkClock(
  time: Micros,
  { now, recordTimeAheadMaxUs, recordTimeGapMaxUs }: ClockRules,
  { timeReached, field }: { timeReached: Micros | null; field: string },
): void {
  if (time > now + recordTimeAheadMaxUs) {
    throw new BadUpdate(
      'ahead_of_clock',
      field,
      formatTime(time),
      `a time no further ahead of our clock (${formatTime(now)}) than --record-time-ahead-max`,
    );
  }
  if (timeReached !== null && time - timeReached > recordTimeGapMaxUs) {
    throw new BadUpdate(
      'record_time_gap',
      field,
      formatTime(time),
      `a time no further after ${formatTime(timeReached)}, the time reached, than --record-time-gap-max`,
    );
  }
}

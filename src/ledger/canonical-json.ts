import { ExactNumber, MayBeRounded, NUMBER_CHARS_MAX } from '../json/exact-number.ts';
import { formatAmount, parseAmount, UNITS_PER_COIN } from './amount.ts';

/** Daml nests values at most 100 deep; deeper JSON is not from a ledger, and would overflow the stack. */
export const NESTING_MAX = 128;

const FRACTION_ZEROS = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{0,5}[1-9])?0*)?Z$/;
const STARTS_LIKE_NUMBER = /^-?[0-9]/;

/** A ledger time without the trailing zeros of its fraction; null for text of another form. */
export function trimTime(text: string): string | null {
  const match = FRACTION_ZEROS.exec(text);
  if (match === null) return null;
  return match[2] === undefined ? `${match[1]}Z` : `${match[1]}.${match[2]}Z`;
}

/**
 * JSON text with sorted keys, no white space, and numbers as they came. Null where the value cannot be stored: nested deeper
 * than NESTING_MAX, or with a number longer than NUMBER_CHARS_MAX. Throws MayBeRounded for a number that is no ExactNumber.
 */
export function canonicalJson(value: unknown): string | null {
  return write(value, keptScalar, NESTING_MAX);
}

/**
 * As canonicalJson, but the same text for what the two wire formats write differently: Decimals by value, times without
 * trailing zeros, Ints as text or number, an absent optional as null or not at all. For comparing, not for storing.
 */
export function comparableJson(value: unknown): string | null {
  return write(value, comparableScalar, NESTING_MAX);
}

/** The value without fields that are null, as an absent optional may be written. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  const present = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(present.map(([key, field]) => [key, withoutNulls(field)]));
}

type Scalar = string | boolean | null | ExactNumber;
type WriteScalar = (value: Scalar) => string;

function write(value: unknown, scalar: WriteScalar, depth: number): string | null {
  if (typeof value === 'number') throw new MayBeRounded();
  if (value instanceof ExactNumber && value.text.length > NUMBER_CHARS_MAX) return null;
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return scalar(value as Scalar);
  if (depth === 0) return null;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      const text = write(item, scalar, depth - 1);
      if (text === null) return null;
      parts.push(text);
    }
    return `[${parts.join(',')}]`;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields).sort()) {
    if (scalar === comparableScalar && fields[key] === null) continue;
    const text = write(fields[key], scalar, depth - 1);
    if (text === null) return null;
    parts.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

function keptScalar(value: Scalar): string {
  return value instanceof ExactNumber ? value.text : JSON.stringify(value);
}

function comparableScalar(value: Scalar): string {
  if (value instanceof ExactNumber) return comparableNumber(value);
  if (typeof value !== 'string' || !STARTS_LIKE_NUMBER.test(value)) return JSON.stringify(value);
  const units = parseAmount(value);
  return JSON.stringify(units === null ? (trimTime(value) ?? value) : formatAmount(units));
}

/** A whole number is an Int, which the other format may write as a string. */
function comparableNumber(value: ExactNumber): string {
  const { whole } = value;
  return whole === null ? value.normal : JSON.stringify(formatAmount(whole * UNITS_PER_COIN));
}

import { formatAmount, parseAmount, UNITS_PER_COIN } from './amount.ts';

/** Daml nests values at most 100 deep; deeper JSON comes from no ledger and would overflow the stack. */
export const NESTING_MAX = 128;

const FRACTION_ZEROS = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{0,5}[1-9])?0*)?Z$/;
const STARTS_LIKE_NUMBER = /^-?[0-9]/;

/** A ledger time without the trailing zeros of its fraction; null where the text does not look like one. */
export function trimTime(text: string): string | null {
  const match = FRACTION_ZEROS.exec(text);
  if (match === null) return null;
  return match[2] === undefined ? `${match[1]}Z` : `${match[1]}.${match[2]}Z`;
}

/**
 * JSON text with sorted keys and no white space: the same value gives the same text. Null where the value cannot be
 * kept: nested deeper than NESTING_MAX, or with a number that was not read exactly.
 */
export function canonicalJson(value: unknown): string | null {
  return write(value, JSON.stringify, NESTING_MAX);
}

/**
 * As canonicalJson, but the same text for what the two wire formats write differently: Decimals by value, times without
 * trailing zeros, Ints as text or number, an absent optional as null or as nothing. For comparing, never for keeping.
 */
export function comparableJson(value: unknown): string | null {
  return write(value, comparableScalar, NESTING_MAX);
}

type WriteScalar = (value: string | number | boolean | null) => string;

function write(value: unknown, scalar: WriteScalar, depth: number): string | null {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'number' && !isExact(value)) return null;
    return scalar(value as string | number | boolean | null);
  }
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

/** A whole number from 2^53 on may have been rounded by JSON.parse already, and so may one beyond a double's range. */
function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function comparableScalar(value: string | number | boolean | null): string {
  if (typeof value === 'number' && Number.isInteger(value)) {
    return `"${formatAmount(BigInt(value) * UNITS_PER_COIN)}"`;
  }
  if (typeof value !== 'string' || !STARTS_LIKE_NUMBER.test(value)) return JSON.stringify(value);
  const units = parseAmount(value);
  return JSON.stringify(units === null ? (trimTime(value) ?? value) : formatAmount(units));
}

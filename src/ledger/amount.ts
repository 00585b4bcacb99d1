import { Decimal } from 'decimal.js';

/** Daml Decimals as whole numbers of 1e-10 units: at most 28 integer and 10 fraction digits, so |units| < 10^38; sums are unbounded. */
export const UNITS_PER_COIN = 10_000_000_000n;

const FRACTION_DIGITS = 10;
const INTEGER_DIGITS_MAX = 28;
const UNITS_LIMIT = 10n ** BigInt(INTEGER_DIGITS_MAX + FRACTION_DIGITS);

/** The one decimal.js clone: as precise as the longest text that SCIENTIFIC accepts, so nothing is rounded. */
const ExactDecimal = Decimal.clone({ precision: 120, toExpNeg: -60, toExpPos: 60 });

const PLAIN = /^-?[0-9]{1,60}(?:\.[0-9]{1,10})?$/;
const SCIENTIFIC = /^-?[0-9]{1,60}(?:\.[0-9]{1,60})?[eE][+-]?[0-9]{1,3}$/;

/**
 * Reads a Decimal as a feed writes it: plain digits, or Java's scientific form ("0E-10", "9.999E-7").
 * Returns units of 1e-10, or null where the text is no Decimal of 28+10 digits.
 */
export function parseAmount(text: string): bigint | null {
  if (!PLAIN.test(text)) return SCIENTIFIC.test(text) ? parseScientific(text) : null;
  const point = text.indexOf('.');
  const whole = point < 0 ? text : text.slice(0, point);
  const fraction = point < 0 ? '' : text.slice(point + 1);
  const units = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'));
  return fitsNumeric(units) ? units : null;
}

function parseScientific(text: string): bigint | null {
  const units = new ExactDecimal(text).times(UNITS_PER_COIN.toString());
  if (!units.isInteger() || units.abs().greaterThanOrEqualTo(UNITS_LIMIT.toString())) return null;
  return BigInt(units.toFixed(0));
}

/** Units of 1e-10 as digits with exactly ten decimals; no exponent, no leading zeros, never a negative zero. */
export function formatAmount(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(FRACTION_DIGITS + 1, '0');
  const point = digits.length - FRACTION_DIGITS;
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Whether a computed value fits a Numeric(10) of 38 digits (docs/rules.md, fees). */
export function fitsNumeric(units: bigint): boolean {
  return units < UNITS_LIMIT && units > -UNITS_LIMIT;
}

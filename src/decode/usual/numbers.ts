import { type Micros, parseLedgerTime } from '../../ledger/time.ts';
import { DIGIT_ZERO, isDigit, standsAt } from './json-bytes.ts';

const WHOLE_DIGITS_MAX = 15;
const FRACTION_DIGITS = 10;
const UNITS_PER_COIN = 10_000_000_000;
const POINT = 0x2e;
const ZULU = 0x5a;
/** Up to the colon before the seconds. */
const MINUTE_LENGTH = '2025-02-14T15:00:'.length;
const MICROS_DIGITS = 6;

/** A whole number of 1 to 15 digits; -1 for anything else. */
export function readWhole(b: Uint8Array, start: number, end: number): number {
  if (end === start || end - start > WHOLE_DIGITS_MAX) return -1;
  let value = 0;
  for (let i = start; i < end; i++) {
    if (!isDigit(b[i])) return -1;
    value = value * 10 + b[i]! - DIGIT_ZERO;
  }
  return value;
}

/** The digits of a fraction as a whole number of so many digits; -1 for anything else, or more digits. */
function readFraction(b: Uint8Array, start: number, end: number, digits: number): number {
  let value = end - start > digits ? -1 : readWhole(b, start, end);
  for (let given = end - start; value >= 0 && given < digits; given++) value *= 10;
  return value;
}

/**
 * A Decimal in plain digits as units of 1e-10, where they are below 2^53: so each step is a whole number that a double holds
 * exactly. -1 for anything else.
 */
export function readUnits(b: Uint8Array, start: number, end: number): number {
  let point = start;
  while (point < end && b[point] !== POINT) point++;
  const coins = readWhole(b, start, point);
  const fraction = point === end ? 0 : readFraction(b, point + 1, end, FRACTION_DIGITS);
  if (coins < 0 || fraction < 0) return -1;
  const units = coins * UNITS_PER_COIN + fraction;
  return units <= Number.MAX_SAFE_INTEGER ? units : -1;
}

/** Reads ledger times; most share their date, hour and minute with the one before, so that only seconds are to be read. */
export class TimeReader {
  #minute = new Uint8Array(MINUTE_LENGTH);
  #micros: Micros = 0;

  /** -1 for what is no ledger time. */
  read(b: Buffer, start: number, end: number): Micros {
    if (!standsAt(b, start, this.#minute)) {
      const micros = parseLedgerTime(`${b.toString('latin1', start, start + MINUTE_LENGTH)}00Z`);
      if (micros === null) return -1;
      this.#minute = Uint8Array.prototype.slice.call(b, start, start + MINUTE_LENGTH);
      this.#micros = micros;
    }
    const fractionStart = start + MINUTE_LENGTH + 2;
    const seconds = readWhole(b, start + MINUTE_LENGTH, fractionStart);
    if (seconds < 0 || seconds > 59 || b[end - 1] !== ZULU) return -1;
    if (end === fractionStart + 1) return this.#micros + seconds * 1_000_000;
    const fraction = b[fractionStart] === POINT ? readFraction(b, fractionStart + 1, end - 1, MICROS_DIGITS) : -1;
    return fraction < 0 ? -1 : this.#micros + seconds * 1_000_000 + fraction;
  }
}

import { ExactNumber, NUMBER_CHARS_MAX } from '../../json/exact-number.ts';
import { isInt64 } from '../../json/int64.ts';
import { endOfString, isDeeperThan } from '../../json/nesting.ts';
import { HttpFault } from './http-fault.ts';
import { jsonFault } from './json-fault.ts';

/** Deeper than any request; bounded, because a deep value uses stack. */
const DEPTH_MAX = 64;

/** A double is exact for that many. */
const EXACT_DIGITS_MAX = 15;
const INEXACT_SOURCE = /[.eE]|\d{16}/;

/**
 * Parses the JSON of a request. Integers of 64 bits that a double would round come as bigint. Throws a 400 that says where the
 * text stops being JSON, or that it is nested too deeply.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new HttpFault(400, 'body: given nothing, expected a JSON object');
  if (isDeeperThan(text, DEPTH_MAX)) throw new HttpFault(400, `body: JSON nested deeper than ${DEPTH_MAX} levels`);
  const value = parse(text);
  // It must not be taken for the object that is expected.
  if (value instanceof ExactNumber) throw new HttpFault(400, `body: given ${value.text}, expected a JSON object`);
  return value;
}

function parse(text: string): unknown {
  try {
    return mayBeInexact(text) ? JSON.parse(text, keepExact) : JSON.parse(text);
  } catch (error) {
    throw new HttpFault(400, `body: malformed JSON: ${jsonFault(text, error as Error)}`);
  }
}

/**
 * Whether text has a number with a point, an exponent or more digits than a double is exact for, and so needs a second
 * parse. Strings are skipped. A regular expression for the same takes six times as long.
 */
function mayBeInexact(text: string): boolean {
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code >= 0x30 && code <= 0x39) {
      if (++digits > EXACT_DIGITS_MAX) return true;
      continue;
    } else if (digits > 0 && (code === 0x2e || code === 0x45 || code === 0x65)) return true;
    digits = 0;
  }
  return false;
}

/**
 * A number that is no integer, or has more than 64 bits, is kept as text, which no field accepts. The third argument is a
 * primitive's source text: in Node since 22, and not yet in TypeScript's library.
 */
function keepExact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || !INEXACT_SOURCE.test(source)) return value;
  const exact = new ExactNumber(source);
  const integer = source.length > NUMBER_CHARS_MAX ? null : exact.whole;
  if (integer === null || !isInt64(integer)) return exact;
  return Number.isSafeInteger(value) ? value : integer;
}

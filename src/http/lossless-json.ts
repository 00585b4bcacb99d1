import { HttpFault } from './http-fault.ts';

declare global {
  interface JSON {
    /** In Node since 22, and not yet in TypeScript's library: a value that stringify writes as it is. */
    rawJSON(text: string): unknown;
  }
}

/** Deeper values than any request of ours has; a bound, because walking one takes stack. */
const DEPTH_MAX = 64;

/** A double holds every integer of 15 digits; text without a longer run of digits needs no second look. */
const LONG_DIGITS = /\d{16}/;
const LONG_INTEGER = /^(-?\d+)(?:\.0*)?$/;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** A number that no double holds and that is no integer either: kept as it was written, so that it is refused as such. */
class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.source);
  }
}

/**
 * Parses the JSON of a request. Integers that a double would round come as bigint. Throws a 400 that says where the
 * text stops being JSON, or that it is nested too deeply.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') throw new HttpFault(400, 'body: given nothing, expected a JSON object');
  if (isDeeperThan(text, DEPTH_MAX)) throw new HttpFault(400, `body: JSON nested deeper than ${DEPTH_MAX} levels`);
  try {
    return LONG_DIGITS.test(text) ? JSON.parse(text, keepLongNumber) : JSON.parse(text);
  } catch (error) {
    throw new HttpFault(400, `body: malformed JSON: ${(error as Error).message}`);
  }
}

/** The third argument shows a primitive's source text: in Node since 22, and not yet in TypeScript's library. */
function keepLongNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || !LONG_DIGITS.test(source)) return value;
  const integer = LONG_INTEGER.exec(source)?.[1];
  return integer === undefined ? new InexactNumber(source) : BigInt(integer);
}

function isDeeperThan(text: string, depthMax: number): boolean {
  // Nearly every request has fewer brackets than levels are allowed, and is not looked at character by character.
  if (!hasMoreThan(text, '[', depthMax / 2) && !hasMoreThan(text, '{', depthMax / 2)) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > depthMax) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

function hasMoreThan(text: string, character: string, count: number): boolean {
  let at = -1;
  for (let found = 0; found <= count; found++) {
    at = text.indexOf(character, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The index of the quote that ends the string which begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1;
  return i;
}

/** An int64 as a request may give it: a JSON number, a bigint of `parseJson`, or a string of digits. Null: it is none. */
export function parseInt64(given: unknown): bigint | null {
  const integer = parseInteger(given);
  return integer !== null && integer >= INT64_MIN && integer <= INT64_MAX ? integer : null;
}

function parseInteger(given: unknown): bigint | null {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? BigInt(given) : null;
  if (typeof given === 'string') return /^-?\d{1,40}$/.test(given) ? BigInt(given) : null;
  return typeof given === 'bigint' ? given : null;
}

/** An int64 as an answer writes it: a JSON number with all its digits. */
export function int64Json(value: bigint): unknown {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : JSON.rawJSON(value.toString());
}

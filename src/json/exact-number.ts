const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

export function isInt64(integer: bigint): boolean {
  return integer >= INT64_MIN && integer <= INT64_MAX;
}

/** The int64 of a JSON number, a bigint, or a string of digits; null for anything else. */
export function parseInt64(given: unknown): bigint | null {
  const integer = parseInteger(given);
  return integer !== null && isInt64(integer) ? integer : null;
}

function parseInteger(given: unknown): bigint | null {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? BigInt(given) : null;
  if (typeof given === 'string') return /^-?\d{1,40}$/.test(given) ? BigInt(given) : null;
  return typeof given === 'bigint' ? given : null;
}

/** An int64 for an answer: a JSON number with all its digits. */
export function int64Json(value: bigint): unknown {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : JSON.rawJSON(value.toString());
}

/** Whether JSON text nests more levels than that, without parsing it. */
export function isDeeperThan(text: string, depthMax: number): boolean {
  // Nearly every request has fewer brackets than the levels allowed, and needs no look at each character.
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
export function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== 0x22) i += text.charCodeAt(i) === 0x5c ? 2 : 1;
  return i;
}

declare global {
  interface JSON {
    /** In Node since 22, and not yet in TypeScript's library: a value that JSON.stringify writes unchanged. */
    rawJSON(text: string): unknown;
  }
}

/** JSON.parse with a reviver uses stack for each level; far more levels than a ledger nests, and the same on every thread. */
const DEPTH_MAX = 1_000;
/** No number of a ledger is nearly as long, and the value of a long one takes time with the square of its length. */
export const NUMBER_CHARS_MAX = 1_000;
/** As many as a Decimal has before its point: no Int of a ledger is longer. */
const WHOLE_DIGITS_MAX = 28;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/;

/** A JSON number as the text that was read: a double may be another number. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The same text for equal values, however they are written: the digits, and the power of ten of the last one. */
  get normal(): string {
    const { sign, digits, power } = this.#parts();
    return digits === '' ? '0' : `${sign}${digits}e${power}`;
  }

  /** Its value, if whole; null for one with a fraction or of more than WHOLE_DIGITS_MAX digits. */
  get whole(): bigint | null {
    const { sign, digits, power } = this.#parts();
    if (digits === '') return 0n;
    return power < 0n || power > WHOLE_DIGITS_MAX - digits.length
      ? null
      : BigInt(`${sign}${digits}${'0'.repeat(Number(power))}`);
  }

  #parts(): { readonly sign: string; readonly digits: string; readonly power: bigint } {
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(this.text)!;
    const all = `${whole}${fraction}`.replace(/^0+/, '');
    // Tried only where zeros begin: at each of many zeros it would take time with the square of their number.
    const digits = all.replace(/(?<!0)0+$/, '');
    return { sign, digits, power: BigInt(exponent) + BigInt(all.length - digits.length - fraction.length) };
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

/** Thrown where a number that JSON.parse may have rounded would be stored or compared: `parseExactJson` must read the text. */
export class MayBeRounded extends Error {}

/** JSON.parse, with each number as an ExactNumber. It takes about five times as long. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  if (isDeeperThan(text, DEPTH_MAX))
    throw new SyntaxError(`nested more than ${DEPTH_MAX} deep, with numbers that must be exact`);
  return JSON.parse(text, exactNumber);
}

/** The third argument shows a primitive's source text: in Node since 22, and not yet in TypeScript's library. */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? new ExactNumber(context!.source!) : value;
}

import { isDeeperThan } from './nesting.ts';

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

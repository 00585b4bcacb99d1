import { unitsOf } from '../../../client/src/index.ts';

/** Amounts stay strings, and arithmetic on them is exact: only `pixels` makes a float. */
export { amountOf as decimalOf, subtract, sum, unitsOf } from '../../../client/src/index.ts';

const UNIT = unitsOf('1');

/** A part of a whole in percent, rounded half up to two decimals; `0.00` if the whole is zero. */
export function percentOf(part: string, whole: string): string {
  const all = unitsOf(whole);
  if (all === 0n) return '0.00';
  const hundredths = (unitsOf(part) * 20_000n + all) / (2n * all);
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

/** `0.1234567890` -> `12.35`, rounded half up. */
export function percentOfShare(share: string): string {
  return percentOf(share, '1.0000000000');
}

/** The parts of an amount on the page; joined they are the amount. */
export interface DecimalParts {
  readonly sign: string;
  /** Digits before the point, in groups of three. */
  readonly groups: readonly string[];
  /** The point and the decimals without trailing zeros; empty if all are zeros. */
  readonly fraction: string;
  /** The trailing zeros, with the point if there is no fraction. */
  readonly zeros: string;
  /** How many characters of fraction and zeros a short form has: two decimals, or of less than 0.01 two digits that are no zeros. */
  readonly short: number;
}

/** A point and two decimals. */
const SHORT_LENGTH = 3;

export function partsOf(decimal: string): DecimalParts {
  const [, sign = '', whole = '', behind = ''] = /^(-?)(\d+)(.*)$/.exec(decimal) ?? [];
  const zeros = /\.?0*$/.exec(behind)?.[0] ?? '';
  return {
    sign,
    groups: whole.split(/(?=(?:\d{3})+$)/),
    fraction: behind.slice(0, behind.length - zeros.length),
    zeros,
    short: Math.max(SHORT_LENGTH, (whole === '0' && /^\.0*[1-9]\d?/.exec(behind)?.[0].length) || 0),
  };
}

/** The most intervals on an axis. */
const TICKS = 5;

/** The ticks of an axis from at most `min` to at least `max`: 1, 2 or 5 times a power of ten apart. Zero is one, if it is between. */
export function ticksBetween(min: bigint, max: bigint): readonly bigint[] {
  const least = (max - min) / BigInt(TICKS) + 1n;
  const power = 10n ** BigInt(String(least).length - 1);
  const step = [power, 2n * power, 5n * power, 10n * power].find((each) => each >= least)!;
  const first = -ceilingOf(-min, step);
  const last = ceilingOf(max, step);
  return Array.from({ length: Math.max(1, Number(last - first)) + 1 }, (_, index) => (first + BigInt(index)) * step);
}

/** Division truncates. */
function ceilingOf(units: bigint, step: bigint): bigint {
  return units > 0n ? (units + step - 1n) / step : units / step;
}

const NAMES = ['', 'k', 'M', 'B', 'T'];

/** `2500000` coins -> `2.5M`: exact, because ticks have few digits. */
export function shortOf(units: bigint): string {
  if (units < 0n) return `-${shortOf(-units)}`;
  const scaleOf = (power: number): bigint => UNIT * 1000n ** BigInt(power);
  const found = NAMES.findLastIndex((_, power) => units >= scaleOf(power));
  const power = Math.max(0, found);
  const scale = scaleOf(power);
  const fraction = String(units % scale)
    .padStart(String(scale).length - 1, '0')
    .replace(/0+$/, '');
  return `${units / scale}${fraction === '' ? '' : `.${fraction}`}${NAMES[power]}`;
}

/** The position of an amount in a chart, or the length of its bar: rounded to a double. */
export function pixels(decimal: string): number {
  return Number(decimal);
}

/**
 * Amounts on the page: decimal strings with ten decimals, exact to the last digit. Arithmetic is of whole units of 1e-10;
 * nothing here makes a float of an amount but `pixels`.
 */

const DECIMALS = 10;
const UNIT = 10n ** BigInt(DECIMALS);

/** `12.5000000000` -> 125000000000n */
export function unitsOf(decimal: string): bigint {
  return BigInt(decimal.replace('.', ''));
}

export function decimalOf(units: bigint): string {
  const size = units < 0n ? -units : units;
  const fraction = String(size % UNIT).padStart(DECIMALS, '0');
  return `${units < 0n ? '-' : ''}${size / UNIT}.${fraction}`;
}

export function subtract(a: string, b: string): string {
  return decimalOf(unitsOf(a) - unitsOf(b));
}

/** The part of the whole in percent, rounded half up to two decimals; `0.00` of nothing. */
export function percentOf(part: string, whole: string): string {
  const all = unitsOf(whole);
  if (all === 0n) return '0.00';
  const hundredths = (unitsOf(part) * 20_000n + all) / (2n * all);
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

/** `0.1234567890` -> `12.34567890`: the same number in percent. */
export function percentOfShare(share: string): string {
  return decimalOf(unitsOf(share) * 100n).slice(0, -2);
}

/** The parts in which an amount is shown; joined they are the amount. */
export interface DecimalParts {
  readonly sign: string;
  /** The whole digits in groups of three from the right. */
  readonly groups: readonly string[];
  /** The point and the digits that say something; empty where all decimals are zeros. */
  readonly fraction: string;
  /** What is left: zeros, with the point where there is no fraction. */
  readonly zeros: string;
}

export function partsOf(decimal: string): DecimalParts {
  const [, sign = '', whole = '', behind = ''] = /^(-?)(\d+)(.*)$/.exec(decimal) ?? [];
  const zeros = /\.?0*$/.exec(behind)?.[0] ?? '';
  return {
    sign,
    groups: whole.split(/(?=(?:\d{3})+$)/),
    fraction: behind.slice(0, behind.length - zeros.length),
    zeros,
  };
}

/** About how many ticks an axis has. */
const TICKS = 5;

/** The marks of an axis from zero that ends at or above the largest amount: 1, 2 or 5 times a power of ten apart. */
export function ticksUpTo(max: bigint): readonly bigint[] {
  const least = max / BigInt(TICKS) + 1n;
  const power = 10n ** BigInt(String(least).length - 1);
  const step = [power, 2n * power, 5n * power, 10n * power].find((each) => each >= least)!;
  const count = Number((max + step - 1n) / step);
  return Array.from({ length: Math.max(1, count) + 1 }, (_, index) => BigInt(index) * step);
}

const NAMES = ['', 'k', 'M', 'B', 'T'];

/** `2500000` coins -> `2.5M`: short and still exact, because marks have few digits. */
export function shortOf(units: bigint): string {
  const scaleOf = (power: number): bigint => UNIT * 1000n ** BigInt(power);
  const power = Math.max(
    0,
    NAMES.findLastIndex((_, each) => units >= scaleOf(each)),
  );
  const scale = scaleOf(power);
  const fraction = String(units % scale)
    .padStart(String(scale).length - 1, '0')
    .replace(/0+$/, '');
  return `${units / scale}${fraction === '' ? '' : `.${fraction}`}${NAMES[power]}`;
}

/** Where an amount lies in a chart or how long its bar is. Only for pixels: it is rounded to a double. */
export function pixels(decimal: string): number {
  return Number(decimal);
}

/** Amounts are decimal strings. Arithmetic on them uses whole units of 1e-10, as bigints: no float is exact. */

const DECIMALS = 10;
const UNIT = 10n ** BigInt(DECIMALS);

/** `12.5` -> 125000000000n; throws a RangeError for anything but a decimal with at most ten decimals. */
export function unitsOf(amount: string): bigint {
  const [, digits, decimals = ''] = /^(-?\d+)(?:\.(\d{1,10}))?$/.exec(amount) ?? [];
  if (digits === undefined)
    throw new RangeError(
      `amount: given ${JSON.stringify(amount)}, expected a decimal with at most ${DECIMALS} decimals`,
    );
  return BigInt(digits + decimals.padEnd(DECIMALS, '0'));
}

/** 125000000000n -> `12.5000000000` */
export function amountOf(units: bigint): string {
  const size = units < 0n ? -units : units;
  const decimals = String(size % UNIT).padStart(DECIMALS, '0');
  return `${units < 0n ? '-' : ''}${size / UNIT}.${decimals}`;
}

export function sum(amounts: Iterable<string>): string {
  let units = 0n;
  for (const amount of amounts) units += unitsOf(amount);
  return amountOf(units);
}

export function subtract(a: string, b: string): string {
  return amountOf(unitsOf(a) - unitsOf(b));
}

/** Below 0 if `a` is less than `b`, above 0 if it is more: sorts amounts from the smallest to the largest. */
export function compare(a: string, b: string): number {
  return Math.sign(Number(unitsOf(a) - unitsOf(b)));
}

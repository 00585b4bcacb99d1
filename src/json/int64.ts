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

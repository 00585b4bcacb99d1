/** A whole number as PostgreSQL gives one that no double may hold. */
export function fromPostgresNumber(text: string): bigint {
  return BigInt(text);
}

/** An int64 as a number where that is exact; null is Infinity. */
export function boundOf(text: string | null): number | bigint {
  if (text === null) return Infinity;
  const value = BigInt(text);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

export function microsOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

import { INT64_MAX } from '../../json/int64.ts';

/** Amounts and ids as SQLite columns hold them: exact at any width. */
export type Stored = string | number | bigint | Buffer | null;

const WIDE_BYTES = 16;

/** Units below 2^63 as an INTEGER, larger ones (below 2^127) as 16 bytes, big-endian. */
export function unitsColumn(units: bigint): bigint | Buffer {
  if (units <= INT64_MAX) return units;
  return Buffer.from(units.toString(16).padStart(WIDE_BYTES * 2, '0'), 'hex');
}

export function unitsOf(column: bigint | Buffer): bigint {
  return typeof column === 'bigint' ? column : BigInt(`0x${column.toString('hex')}`);
}

/** An expiry round as a column: null for never. */
export function expiryColumn(expiry: number | bigint): number | bigint | null {
  return expiry === Infinity ? null : expiry;
}

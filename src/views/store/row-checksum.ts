import { storedIdHash } from '../../ledger/contract-id.ts';

/**
 * The checksum in a row of a small table with values that no other table repeats, such as a party, a round or a
 * synchronizer's last time. By it a verification finds a value that was changed behind the writer's back.
 */
export function rowChecksum(key: number, ...values: readonly (string | number | bigint)[]): number {
  return storedIdHash(values.join('\n'), key);
}

/** A column's value in SQLite. */
export type Stored = string | number | bigint | Buffer | null;

/** A row of a table whose last column is a checksum of all the others, made from these others in their order. */
export function withChecksum(columns: readonly Stored[]): readonly Stored[] {
  return [...columns, columnsChecksum(columns)];
}

/** Whether a row of such a table, its integers as bigint, has the checksum of its columns. */
export function isSoundRow(row: readonly Stored[]): boolean {
  return row.at(-1) === BigInt(columnsChecksum(row.slice(0, -1)));
}

function columnsChecksum(columns: readonly Stored[]): number {
  return storedIdHash(columns.map(columnText).join('\n'), columns.length);
}

/** Different texts for different values, also for those of different types; long bytes are replaced by a hash. */
function columnText(column: Stored): string {
  if (column === null) return '';
  if (typeof column === 'string') return `'${column}`;
  return Buffer.isBuffer(column) ? `x${column.length}:${storedIdHash(column, 0)}` : String(column);
}

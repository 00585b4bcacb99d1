import { storedIdHash } from '../../ledger/contract-id.ts';

/**
 * What a row of a small table carries of itself where no other table says it again: whose party it is, a round, a
 * synchronizer's last time. So a verification finds a digit of it that was changed behind the writer's back.
 */
export function rowChecksum(key: number, ...values: readonly (string | number | bigint)[]): number {
  return storedIdHash(values.join('\n'), key);
}

/** A column as SQLite keeps it. */
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

/** Of two columns that differ, in type alone too, the texts differ; of many bytes a hash stands for them. */
function columnText(column: Stored): string {
  if (column === null) return '';
  if (typeof column === 'string') return `'${column}`;
  return Buffer.isBuffer(column) ? `x${column.length}:${storedIdHash(column, 0)}` : String(column);
}

import type { EventColumns, UpdateColumns } from './chunk.ts';

type Column = Uint8Array | Uint32Array | Float64Array | BigInt64Array;

export function newUpdateColumns(rows: number): UpdateColumns {
  return {
    kind: new Uint8Array(rows),
    migrationId: new Float64Array(rows),
    name: new Uint32Array(rows),
    recordTime: new Float64Array(rows),
    idStart: new Uint32Array(rows),
    idLength: new Uint32Array(rows),
    idPacked: new Uint8Array(rows),
    isScan: new Uint8Array(rows),
    ledgerOffset: new Float64Array(rows),
    eventsEnd: new Uint32Array(rows),
    ignoredEnd: new Uint32Array(rows),
    rawEnd: new Float64Array(rows),
    lane: new Uint32Array(rows),
    offset: new Float64Array(rows),
  };
}

export function newEventColumns(rows: number): EventColumns {
  return {
    kind: new Uint8Array(rows),
    idHash: new Float64Array(rows),
    idStart: new Uint32Array(rows),
    idLength: new Uint32Array(rows),
    idPacked: new Uint8Array(rows),
    dso: new Uint32Array(rows),
    owner: new Uint32Array(rows),
    template: new Uint32Array(rows),
    extra: new Uint32Array(rows),
    amount: new BigInt64Array(rows),
    rate: new BigInt64Array(rows),
    rateRound: new BigInt64Array(rows),
    round: new Float64Array(rows),
    expiry: new Float64Array(rows),
    createdAt: new Float64Array(rows),
    node: new Float64Array(rows),
  };
}

type ColumnClass = new (buffer: ArrayBuffer, start: number, rows: number) => Column;

/** The same columns with room for twice as many rows. */
export function grownColumns<Columns extends object>(columns: Columns): Columns {
  return mapColumns(columns, (column) => {
    const larger = new (column.constructor as new (rows: number) => Column)(column.length * 2);
    larger.set(column as never);
    return larger;
  });
}

/** A copy of the first rows only, all columns in one buffer: each buffer costs time when it moves to another thread. */
export function cutColumns<Columns extends object>(columns: Columns, rows: number): Columns {
  const buffer = new ArrayBuffer(Object.values(columns).length * alignedBytes(rows));
  let start = 0;
  return mapColumns(columns, (column) => {
    const cut = new (column.constructor as ColumnClass)(buffer, start, rows);
    cut.set(column.subarray(0, rows) as never);
    start += alignedBytes(cut.byteLength / 8);
    return cut;
  });
}

function alignedBytes(doubles: number): number {
  return Math.ceil(doubles) * 8;
}

/** Resets the first rows to zeros, as in new columns. */
export function clearColumns(columns: object, rows: number): void {
  for (const column of Object.values(columns as Readonly<Record<string, Column>>)) {
    if (column instanceof BigInt64Array) column.fill(0n, 0, rows);
    else column.fill(0, 0, rows);
  }
}

function mapColumns<Columns extends object>(columns: Columns, change: (column: Column) => Column): Columns {
  const entries = Object.entries(columns as Readonly<Record<string, Column>>);
  return Object.fromEntries(entries.map(([name, column]) => [name, change(column)])) as Columns;
}

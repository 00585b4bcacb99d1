/** One promise of the design, with what was measured. */
export interface Promised {
  readonly what: string;
  readonly measured: number;
  readonly least?: number;
  readonly most?: number;
  readonly unit: string;
}

/** Prints rows under a heading, the columns as wide as their widest cell. */
export function printTable(heading: string, columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string => {
    return cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ');
  };
  console.log(`\n${heading}`);
  console.log([line(columns), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n'));
}

export function printPromises(promises: readonly Promised[]): void {
  const rows = promises.map(({ what, measured, least, most, unit }) => {
    const kept = (least === undefined || measured >= least) && (most === undefined || measured <= most);
    const bound = least === undefined ? `<= ${most}` : `>= ${least}`;
    return [what, `${rounded(measured)} ${unit}`, `${bound} ${unit}`, kept ? 'kept' : 'MISSED'];
  });
  printTable('Promises', ['what', 'measured', 'promise', ''], rows);
}

/** Three digits are more than these machines can tell apart. */
export function rounded(figure: number): string {
  return figure >= 100 ? Math.round(figure).toString() : figure.toPrecision(3).replace(/\.?0+$/, '');
}

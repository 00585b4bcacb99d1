/** Rows under a header, columns two spaces apart; a column of numbers is aligned to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = header.map((name, i) => {
    const cells = rows.map((row) => row[i] ?? '');
    const width = cells.reduce((most, cell) => Math.max(most, cell.length), name.length);
    const isNumeric = cells.length > 0 && cells.every((cell) => /^-?\d+(\.\d+)?$/.test(cell));
    return (cell: string): string => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => columns[i]!(cell))
      .join('  ')
      .trimEnd();
  return [header, ...rows].map((cells) => `${line(cells)}\n`).join('');
}

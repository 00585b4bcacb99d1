import { safeText } from './terminal-text.ts';

/** Rows under a header, columns two spaces apart; a column of numbers is aligned to the right. The cells are made safe for a terminal. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const [names = [], ...safeRows] = [header, ...rows].map((cells) => cells.map(safeText));
  const columns = names.map((name, i) => {
    const cells = safeRows.map((row) => row[i] ?? '');
    const width = cells.reduce((most, cell) => Math.max(most, cell.length), name.length);
    const isNumeric = cells.length > 0 && cells.every((cell) => /^-?\d+(\.\d+)?$/.test(cell));
    return (cell: string): string => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => columns[i]!(cell))
      .join('  ')
      .trimEnd();
  return [names, ...safeRows].map((cells) => `${line(cells)}\n`).join('');
}

export type Fact = readonly [name: string, value: string | number | null];

/** Facts below each other, each behind its name; without those that are null. */
export function formatFacts(facts: readonly Fact[]): string {
  const known = facts.filter(([, value]) => value !== null).map((fact) => fact.map(String));
  return formatTable(known[0] ?? [], known.slice(1));
}

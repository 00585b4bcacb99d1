// biome-ignore-all lint/a11y/noRedundantRoles: Table says why
import type { ComponentChildren, JSX } from 'preact';
import { Empty } from './states.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly number?: true;
}

interface Props<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What is said where there are no rows. */
  readonly empty?: ComponentChildren;
}

/**
 * On a narrow screen each row is a block with the names of its columns; the roles say all the same that it is a table, which
 * browsers otherwise forget with the layout.
 */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: Props<Row>): JSX.Element {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    <table role="table">
      <caption class="hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, number }) => (
            <th key={name} scope="col" role="columnheader" class={number && 'number'}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ name, cell, number }) => (
              <td key={name} role="cell" data-name={name} class={number && 'number'}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

import type { ComponentChildren, JSX } from 'preact';
import { Empty } from './states.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly number?: true;
}

/**
 * On a narrow screen each row is a block with the names of its columns; the roles say all the same that it is a table, which
 * browsers otherwise forget with the layout.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What is said where there are no rows. */
  readonly empty?: ComponentChildren;
}): JSX.Element {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <table role="table">
      <caption class="hidden">{caption}</caption>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <thead role="rowgroup">
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <tr role="row">
          {columns.map(({ name, number }) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above
            <th key={name} scope="col" role="columnheader" class={number && 'number'}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <tbody role="rowgroup">
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: see above
          <tr key={keyOf(row)} role="row">
            {columns.map(({ name, cell, number }) => (
              // biome-ignore lint/a11y/noRedundantRoles: see above
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

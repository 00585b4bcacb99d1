// biome-ignore-all lint/a11y/noRedundantRoles: Table says why
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Query } from '../data/address.ts';
import { Empty } from './card.tsx';
import { Amount } from './values.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly number?: true;
}

/** A column of amounts or counts. */
export function amountColumn<Row>(name: string, of: (row: Row) => string | number, signed = false): Column<Row> {
  return { name, number: true, cell: (row) => <Amount of={String(of(row))} signed={signed} /> };
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown if there are no rows. */
  readonly empty?: string;
}

/** On a narrow screen each row is a block. The roles keep it a table, which browsers otherwise forget with the layout. */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>): JSX.Element {
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

/** The page that is shown, of the pages of one question. */
interface Pages<Token> {
  /** The token of the page; undefined for the first. */
  readonly after: Token | undefined;
  readonly number: number;
  readonly next: (token: Token) => void;
  readonly previous: () => void;
}

/** Another question starts at its first page. */
export function usePages<Token = string>(question: string): Pages<Token> {
  const [state, setState] = useState<{ question: string; tokens: readonly Token[] }>({ question, tokens: [] });
  const tokens = state.question === question ? state.tokens : [];
  return {
    after: tokens.at(-1),
    number: tokens.length + 1,
    next: (token) => setState({ question, tokens: [...tokens, token] }),
    previous: () => setState({ question, tokens: tokens.slice(0, -1) }),
  };
}

/** The query of the page: the first by what is asked, a later one by its token. */
export function pageQuery({ after }: Pages<string>, first: Query, limit: number): Query {
  return { ...(after === undefined ? first : { after }), limit };
}

interface PagerProps<Token> {
  readonly pages: Pages<Token>;
  readonly next: Token | null;
  readonly note?: string;
}

export function Pager<Token>({ pages, next, note = '' }: PagerProps<Token>): JSX.Element | null {
  if (pages.number === 1 && next === null) return null;
  return (
    <div class="pager">
      <button type="button" class="tool" disabled={pages.number === 1} onClick={pages.previous}>
        ← Back
      </button>
      <span class="faint" aria-live="polite">
        Page {pages.number} {note}
      </span>
      <button type="button" class="tool" disabled={next === null} onClick={() => next !== null && pages.next(next)}>
        Next →
      </button>
    </div>
  );
}

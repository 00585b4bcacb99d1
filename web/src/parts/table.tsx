// biome-ignore-all lint/a11y/noRedundantRoles: Table says why
import type { ComponentChildren, JSX } from 'preact';
import { changeQuery, type Query, type TABLE_NAMES, useAddress } from '../data/address.ts';
import { Empty } from './card.tsx';
import { Amount } from './values.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly number?: true;
  /** Where a narrow screen shows it: on the first line or the second, left or right. Others are shown when the row is tapped. */
  readonly narrow?: 'head' | 'value' | 'sub' | 'aside';
  /** Set where rows can be ordered by it. */
  readonly sort?: { readonly order: 'ascending' | 'descending' | null; readonly choose: () => void } | undefined;
}

type Place = Pick<Column<never>, 'narrow' | 'sort'>;

/** A column of amounts or counts. */
export function amountColumn<Row>(name: string, of: (row: Row) => string | number, place: Place = {}): Column<Row> {
  return { name, number: true, cell: (row) => <Amount of={String(of(row))} />, ...place };
}

/** A column of changes; those of the total are gains and losses. */
export function changeColumn<Row>(
  name: string,
  of: (row: Row) => string,
  { gain = false, ...place }: Place & { readonly gain?: boolean } = {},
): Column<Row> {
  return { name, number: true, cell: (row) => <Amount of={of(row)} signed gain={gain} />, ...place };
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown if there are no rows. */
  readonly empty?: string;
}

/** On a narrow screen a row is two lines. The roles keep it a table, which browsers otherwise forget with the layout. */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>): JSX.Element {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    <div class="table-frame">
      <table role="table">
        <caption class="hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, number, sort }) => (
              <th
                key={name}
                scope="col"
                role="columnheader"
                class={number && 'number'}
                aria-sort={sort === undefined ? undefined : (sort.order ?? 'none')}
              >
                {sort === undefined ? (
                  name
                ) : (
                  <button type="button" class="sort" onClick={sort.choose}>
                    {name}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            // A touch opens what a narrow screen leaves out.
            <tr key={keyOf(row)} role="row" onClick={toggleOpen}>
              {columns.map(({ name, cell, number, narrow }) => (
                <td key={name} role="cell" data-name={name} data-narrow={narrow} class={number && 'number'}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toggleOpen({ target, currentTarget }: { target: EventTarget | null; currentTarget: HTMLElement }): void {
  if ((target as Element).closest('a, button') === null) currentTarget.classList.toggle('open');
}

const SIZES = [10, 50, 100];

type TableName = (typeof TABLE_NAMES)[number];

/** The page that is shown of a table: the address has its number and its token, and the number of rows of all tables. */
interface Pages {
  readonly name: TableName;
  /** The token of the page; undefined for the first. */
  readonly after: string | undefined;
  readonly number: number;
  readonly size: number;
  /** The pages before this one, where they were seen; the browser keeps them with the address. */
  readonly seen: readonly string[] | null;
}

type Seen = Readonly<Record<string, readonly string[] | undefined>> | null;

export function usePages(name: TableName): Pages {
  const { query } = useAddress();
  const size = SIZES.find((each) => String(each) === query.get('rows')) ?? SIZES[0]!;
  const [, number = '1', after] = /^(\d{1,9})~(.+)$/s.exec(query.get(name) ?? '') ?? [];
  const seen = (history.state as Seen)?.[name] ?? [];
  return { name, after, number: Number(number), size, seen: seen.length === Number(number) - 1 ? seen : null };
}

function showPage({ name }: Pages, tokens: readonly string[], number = tokens.length + 1): void {
  const after = tokens.length === 0 ? undefined : `${number}~${tokens.at(-1)}`;
  changeQuery({ [name]: after }, { push: true, state: { ...(history.state as Seen), [name]: tokens } });
}

/** The query of the page: the first by what is asked, a later one by its token. */
export function pageQuery({ after, size }: Pages, first: Query): Query {
  return { ...(after === undefined ? first : { after }), limit: size };
}

interface PagerProps {
  readonly pages: Pages;
  readonly next: string | null;
  /** Rows on this page. */
  readonly count: number;
  /** Of all pages; undefined if not known. */
  readonly total?: number | undefined;
  readonly what: string;
}

export function Pager({ pages, next, count, total, what }: PagerProps): JSX.Element | null {
  const { number, size, seen } = pages;
  if (number === 1 && next === null && count <= SIZES[0]!) return null;
  const first = (number - 1) * size + 1;
  const of = total ?? (next === null ? first + count - 1 : undefined);
  return (
    <div class="pager">
      <span class="faint" aria-live="polite">
        {first}–{first + count - 1}{' '}
        {of === undefined ? (
          `${what}, more follow`
        ) : (
          <>
            of <Amount of={String(of)} /> {what}
          </>
        )}
      </span>
      <label>
        <span>Rows</span>
        <select
          value={size}
          onChange={({ currentTarget }) =>
            changeQuery({ rows: currentTarget.value, [pages.name]: undefined }, { state: null })
          }
        >
          {SIZES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <div class="pager-moves">
        <button type="button" class="tool" disabled={number === 1} onClick={() => showPage(pages, [])}>
          First
        </button>
        <button
          type="button"
          class="tool"
          disabled={number === 1 || seen === null}
          onClick={() => showPage(pages, seen!.slice(0, -1))}
        >
          ← Back
        </button>
        <button
          type="button"
          class="tool"
          disabled={next === null}
          onClick={() => next !== null && showPage(pages, [...(seen ?? []), next], number + 1)}
        >
          Next →
        </button>
      </div>
    </div>
  );
}

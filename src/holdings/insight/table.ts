import { createHash } from 'node:crypto';

/** Rows with what applies to all of them. */
export interface Table {
  /** The fields of the answer before its rows, in order. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The name of the rows in the answer. */
  readonly rowsName: string;
  /** The fields of a row, in order. A row need not have all of them. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The token of the next page, null at the end; undefined where there are no pages. */
  readonly next?: string | null;
  /** That of the snapshot which all pages are made of: it proves all of them. Null where it was forced. */
  readonly snapshotDigest?: string | null;
  /** Whether the same request will always have the same answer. */
  readonly fixed: boolean;
  /** The name of a file of these rows. */
  readonly about: readonly string[];
}

/** Rows as JSON in their envelope, as CSV below a header, or as the CSV of a page after the first. */
export type TableForm = 'json' | 'csv' | 'csv rows';

/** A table in the form in which it is sent. */
export interface TableText extends Pick<Table, 'fixed'> {
  readonly text: string;
  readonly next: string | null;
  readonly snapshotDigest: string | null;
  /** Identifies exactly these bytes. */
  readonly digest: string;
  /** Without an ending. */
  readonly fileName: string;
}

export function tableText(
  table: Table,
  { name, form }: { readonly name: string; readonly form: TableForm },
): TableText {
  const text = form === 'json' ? JSON.stringify(tableBody(table)) : csvText(table, form === 'csv');
  return {
    text,
    next: table.next ?? null,
    snapshotDigest: table.snapshotDigest ?? null,
    fixed: table.fixed,
    digest: createHash('sha256').update(text).digest('base64url'),
    fileName: fileName([name, ...table.about]),
  };
}

/** The body of the operation. */
export function tableBody({ head, rowsName, rows, next }: Table): Readonly<Record<string, unknown>> {
  return { ...head, [rowsName]: rows, ...(next === undefined ? {} : { next_page_token: next }) };
}

/** RFC 4180. */
export function csvText({ columns, rows }: Pick<Table, 'columns' | 'rows'>, withHeader: boolean): string {
  const lines = rows.map((row) => columns.map((name) => csvField(row[name])).join(','));
  return [...(withHeader ? [columns.join(',')] : []), ...lines].map((line) => `${line}\r\n`).join('');
}

const QUOTED = /[",\r\n]/;

function csvField(value: unknown): string {
  const text = String(value ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Systems allow 255 bytes; an ending is added. */
const FILE_NAME_CHARS_MAX = 200;

function fileName(words: readonly string[]): string {
  const text = ['holdfast', ...words].join('-').replaceAll(':', '');
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, FILE_NAME_CHARS_MAX);
}

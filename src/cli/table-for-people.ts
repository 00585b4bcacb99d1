import type { MovementKind } from '../holdings/movement-facts.ts';
import type { TableName } from '../holdings/table-question.ts';
import type { CsvForm, Row, Table } from '../holdings/table-rows.ts';
import { isObject } from '../json/untrusted.ts';
import { cutInside, rowsForPeople } from './terminal.ts';

/** What people see of a table. */
interface Shown {
  /** Absent: all. */
  readonly columns?: readonly string[];
  /** Columns that a narrow terminal leaves out, the first of these before the second. */
  readonly leftOut: readonly string[];
  /** The values of columns that are no fields, or not as text. */
  readonly values?: (row: Row) => Row;
}

/** Of the other tables all fields are shown. */
const SHOWN: Readonly<Partial<Record<TableName, Shown>>> = {
  history: { leftOut: ['partial', 'contracts', 'unlocked'] },
  top: { leftOut: ['contracts', 'locked', 'unlocked', 'share'] },
  owners: { leftOut: ['contracts', 'locked', 'unlocked'] },
  instruments: { leftOut: ['scope', 'contracts', 'owners', 'locked', 'unlocked'] },
  'owner instruments': { leftOut: ['scope', 'contracts', 'locked', 'unlocked'] },
  movements: {
    columns: ['record_time', 'provider', 'account_id', 'kind', 'change', 'total', 'with', 'update_id'],
    leftOut: ['update_id', 'with', 'provider', 'account_id'],
    values: (row) => ({ change: row[CHANGE_FIELD[row.kind as MovementKind]], with: withText(row) }),
  },
  statement: {
    columns: [
      ...['from', 'opening', 'received', 'sent', 'closing', 'movements'],
      ...['locked_change', 'average_total', 'minted', 'burned'],
    ],
    leftOut: ['burned', 'minted', 'average_total', 'locked_change', 'opening', 'movements'],
  },
  locks: {
    columns: ['expires_at', 'amount', 'expired', 'holders', 'context', 'created_at', 'contract_id'],
    leftOut: ['created_at', 'contract_id', 'context', 'holders', 'expired'],
    values: ({ expired, holders }) => ({
      expired: expired === true ? 'yes' : 'no',
      holders: (holders as readonly string[]).join(' '),
    }),
  },
};

/** The field that says all of a movement of a kind: a lock takes from the unlocked coin what it adds to the locked. */
const CHANGE_FIELD = {
  in: 'change_total',
  out: 'change_total',
  lock: 'change_locked',
  unlock: 'change_unlocked',
} as const;

/** The other owner whose total the update changed most, and how many more there are; else where the coin came from or went. */
function withText({ others, others_count: count, minted, burned }: Row): string {
  const [first] = others as readonly { readonly party_id: string | null }[];
  if (first !== undefined)
    return `${first.party_id ?? '(no owner)'}${Number(count) > 1 ? ` +${Number(count) - 1}` : ''}`;
  const isSome = (amount: unknown): boolean => /[1-9]/.test(String(amount));
  return isSome(minted) ? '(minted)' : isSome(burned) ? '(burned)' : '';
}

/** Facts, and the rows below: whole, or as they fit a terminal of this many characters. */
export function tableForPeople(
  name: TableName,
  { head, columns, rows, csvWithout = [] }: Pick<Table, 'head' | 'rows' | 'csvWithout'> & Pick<CsvForm, 'columns'>,
  width: number | undefined,
): string {
  const facts = Object.entries(head).filter(([, value]) => value !== null);
  const { values, leftOut = [], columns: shown = columns }: Partial<Shown> = SHOWN[name] ?? {};
  const kept = shown.filter((each) => !csvWithout.includes(each));
  const texts = values === undefined ? rows : rows.map((row) => ({ ...row, ...values(row) }));
  return `${factLines(facts.map(factText), width)}\n\n${rowsForPeople(kept, texts, { width, leftOut })}`;
}

function factText([name, value]: readonly [string, unknown]): string {
  const text = isObject(value)
    ? Object.entries(value)
        .map((each) => each.join(' '))
        .join(' / ')
    : value;
  return `${name.replaceAll('_', ' ')} ${text}`;
}

/** Facts on one line, or on as few as a terminal needs. */
function factLines(facts: readonly string[], width: number | undefined): string {
  if (width === undefined) return facts.join(', ');
  const lines: string[] = [];
  for (const fact of facts.map((whole) => cutInside(whole, width - 1))) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}, ${fact}`.length < width) lines[lines.length - 1] = `${last}, ${fact}`;
    else lines.push(fact);
  }
  return lines.join(',\n');
}

import { createHash } from 'node:crypto';
import { formatAmount } from '../ledger/amount.ts';
import { formatTime } from '../ledger/time.ts';
import type { Change, OwnerFacts, PartyTotals, RankedBy, Snapshot, Totals } from './facts.ts';
import type { AccountName, OfInstrument } from './instrument.ts';

/** Rows with what applies to all of them. */
export interface Table {
  /** The fields of the answer before its rows, in order. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The name of the rows in the answer; null: the answer is the only row. */
  readonly rowsName: string | null;
  readonly rows: readonly Row[];
  /** Columns that CSV does not have here. */
  readonly csvWithout?: readonly string[];
  /** The token of the next page, null at the end; undefined where there are no pages. */
  readonly next?: string | null;
  /** The token of the next part of an answer that has no pages, null at the end; undefined where it is whole. */
  readonly rest?: string | null;
  /** That of the snapshot which all pages are made of: it proves all of them. Null where it was forced. */
  readonly snapshotDigest?: string | null;
  /** Whether the same request will always have the same answer. */
  readonly fixed: boolean;
  /** The name of a file of these rows. */
  readonly about: readonly string[];
}

/** Rows as JSON in their envelope, or as a later part of that; or as CSV. */
export type TableForm = 'json' | 'json rows' | CsvForm;

export interface CsvForm {
  /** The fields of a row, in order. A row need not have all of them. */
  readonly columns: readonly string[];
  readonly header: boolean;
}

/** A table in the form in which it is sent. */
export type TableText = Readonly<ReturnType<typeof tableText>>;

export function tableText(table: Table, name: string, form: TableForm) {
  const text =
    form === 'json' || form === 'json rows'
      ? jsonText(table, form === 'json')
      : csvText(table.rows, withoutColumns(form, table));
  return {
    text,
    next: table.next ?? table.rest ?? null,
    snapshotDigest: table.snapshotDigest ?? null,
    fixed: table.fixed,
    /** Identifies exactly these bytes. */
    digest: createHash('sha256').update(text).digest('base64url'),
    /** Without an ending. */
    fileName: fileName([name, ...table.about]),
  };
}

/** The body of the operation. */
export function tableBody({ head, rowsName, rows, next }: Table): Readonly<Record<string, unknown>> {
  if (rowsName === null) return rows[0]!;
  return { ...head, [rowsName]: rows, ...(next === undefined ? {} : { next_page_token: next }) };
}

/** The envelope is open until the last part. */
function jsonText(table: Table, isFirst: boolean): string {
  const { rows, rest } = table;
  const text = isFirst ? JSON.stringify(tableBody(table)) : `,${JSON.stringify(rows).slice(1)}}`;
  return rest === undefined || rest === null ? text : text.slice(0, -']}'.length);
}

export function withoutColumns({ columns, header }: CsvForm, { csvWithout = [] }: Pick<Table, 'csvWithout'>): CsvForm {
  return { columns: columns.filter((name) => !csvWithout.includes(name)), header };
}

/** RFC 4180. */
export function csvText(rows: readonly Row[], { columns, header }: CsvForm): string {
  const lines = rows.map((row) => columns.map((name) => csvField(row[name], name)).join(','));
  return [...(header ? [columns.join(',')] : []), ...lines].map((line) => `${line}\r\n`).join('');
}

const QUOTED = /[",\r\n]/;

function csvField(value: unknown, name: string): string {
  if (name === 'stakeholders') return (value as readonly string[]).join('|');
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Systems allow 255 bytes; an ending is added. */
const FILE_NAME_CHARS_MAX = 200;

function fileName(words: readonly string[]): string {
  const text = ['holdfast', ...words].join('-').replace('::', '-').replaceAll(':', '');
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, FILE_NAME_CHARS_MAX);
}

/** A row, its fields in order. Its amounts may have any number of digits. */
export type Row = Readonly<Record<string, unknown>>;

export function snapshotRow(snapshot: Snapshot): Row {
  const { recordTime, forced, owners, contracts, changesDigest, digest } = snapshot;
  const { tokensChangesDigest, tokensDigest } = snapshot;
  return {
    record_time: formatTime(recordTime),
    forced,
    owners,
    contracts,
    ...totalsFields(snapshot),
    changes_digest: changesDigest,
    digest,
    tokens_changes_digest: tokensChangesDigest,
    tokens_digest: tokensDigest,
  };
}

/** Of snapshots of all migrations, as the command line lists them. */
export const LISTED_COLUMNS = [
  ...['migration_id', 'record_time', 'contracts', 'owners', 'unlocked', 'locked', 'forced', 'total'],
  ...['changes_digest', 'digest', 'tokens_changes_digest', 'tokens_digest'],
];

/** Amounts of both kinds of coin, and both together. */
export function totalsFields({ unlocked, locked }: Pick<Totals, 'unlocked' | 'locked'>): Row {
  return { unlocked: formatAmount(unlocked), locked: formatAmount(locked), total: formatAmount(unlocked + locked) };
}

export function accountFields(account: AccountName | undefined): Row {
  return account === undefined ? {} : { provider: account.provider, account_id: account.accountId };
}

export function ownerRow(owner: PartyTotals): Row {
  return { party_id: owner.party, ...totalsFields(owner), contracts: owner.contracts };
}

export function pointRow(recordTime: number, totals: Totals): Row {
  return { record_time: formatTime(recordTime), ...totalsFields(totals), contracts: totals.contracts };
}

/** A point that is off the step. */
export function partialPointRow(recordTime: number, { unlocked, locked }: OwnerFacts): Row {
  const contracts = unlocked.count + locked.count;
  return { ...pointRow(recordTime, { unlocked: unlocked.amount, locked: locked.amount, contracts }), partial: true };
}

export function changeRow({ recordTime, before, after }: Change): Row {
  return {
    ...pointRow(recordTime, after),
    change_unlocked: formatAmount(after.unlocked - before.unlocked),
    change_locked: formatAmount(after.locked - before.locked),
    change_total: formatAmount(after.unlocked + after.locked - before.unlocked - before.locked),
  };
}

export function rankedRow(
  owner: PartyTotals,
  { rank, by, supply }: { readonly rank: number; readonly by: RankedBy; readonly supply: bigint },
): Row {
  const ordered = by === 'total' ? owner.unlocked + owner.locked : owner[by];
  return { rank, party_id: owner.party, ...totalsFields(owner), share: share(ordered, supply) };
}

/** One in units of 1e-10, as amounts are. */
const WHOLE = 10n ** 10n;

/** A part of a whole with ten decimals, rounded half up; 0 of nothing. */
function share(part: bigint, whole: bigint): string {
  return formatAmount(whole === 0n ? 0n : (2n * part * WHOLE + whole) / (2n * whole));
}

/** `skipped`: others of its migration before it were left out. */
export function snapshotEvent(snapshot: Snapshot, { skipped }: { readonly skipped: boolean }): Row {
  return { migration_id: snapshot.migrationId, ...snapshotRow(snapshot), ...(skipped ? { skipped } : {}) };
}

export function instrumentFields({ instrument }: OfInstrument): Row {
  return instrument === undefined ? {} : { instrument_admin: instrument.admin, instrument_id: instrument.id };
}

export function ownerEvent(
  { migrationId, party, ...of }: { readonly migrationId: number; readonly party: string } & OfInstrument,
  change: Change,
): Row {
  return { migration_id: migrationId, party_id: party, ...instrumentFields(of), ...changeRow(change) };
}

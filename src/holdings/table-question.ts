import { parseInt64 } from '../json/exact-number.ts';
import { jsonOrNull } from '../json/untrusted.ts';
import { formatAmount, parseAmount } from '../ledger/amount.ts';
import {
  DURATION_EXPECTED,
  formatDuration,
  formatPeriodLength,
  PERIOD_LENGTH_EXPECTED,
  type PeriodLength,
  parseDuration,
  parsePeriodLength,
} from '../ledger/duration.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/ledger-ids.ts';
import { formatTime, parseRequestTime } from '../ledger/time.ts';
import type { Order, RankedBy } from './facts.ts';
import { MOVEMENT_KINDS, type MovementKind } from './movement-facts.ts';

/** The parameters of tables: HTTP, the command line and page tokens all read them by this list. */
export interface Parameter<Value> {
  /** Null where the text is no such value. */
  readonly parse: (text: string) => Value | null;
  /** The value in its canonical form. */
  readonly print: (value: Value) => string;
  readonly expected: string;
  /** The default value, if there is one. */
  readonly initial?: string;
  readonly description: string;
  /** Its schema in the OpenAPI document. */
  readonly schema: Readonly<Record<string, unknown>>;
}

const PREFIX_CHARS_MAX = 255;
const ID_CHARS_MAX = 255;
const TIME_EXPECTED =
  'an RFC 3339 date-time with Z or an offset, in UTC within the years 0001-9999, such as 2025-02-14T15:00:00Z';

const INSTRUMENT_ID_BYTES_MAX = 1_024;
const INSTRUMENT_ID_EXPECTED = `text in UTF-8 of at most ${INSTRUMENT_ID_BYTES_MAX} bytes, percent-encoded in a query`;

const itself = <Text extends string>(text: Text): Text => text;

const time = (description: string): Parameter<bigint> => ({
  parse: parseRequestTime,
  print: formatTime,
  expected: TIME_EXPECTED,
  description,
  schema: { type: 'string', format: 'date-time' },
});

const party = (description: string): Parameter<string> => ({
  parse: (text) => (isPartyId(text) ? text : null),
  print: itself,
  expected: PARTY_EXPECTED,
  description,
  schema: { type: 'string', maxLength: 255 },
});

/** The first of the values is the default. */
function oneOf<const Name extends string>(names: readonly Name[], description: string): Parameter<Name> {
  return {
    parse: (text) => names.find((name) => name === text) ?? null,
    print: itself,
    expected: names.join(' or '),
    initial: names[0]!,
    description,
    schema: { type: 'string', enum: names, default: names[0] },
  };
}

interface Values {
  readonly party: string;
  readonly migration_id: bigint;
  readonly record_time: bigint;
  readonly at: bigint;
  readonly from: bigint;
  readonly to: bigint;
  /** In microseconds. */
  readonly every: number;
  readonly order: Order;
  readonly by: RankedBy;
  readonly prefix: string;
  /** In lower case. */
  readonly contains: string;
  /** Each once. */
  readonly kind: readonly MovementKind[];
  /** In 1e-10 units. */
  readonly min: bigint;
  readonly instrument_admin: string;
  readonly instrument_id: string;
  readonly id: string;
}

export type ParameterName = keyof Values;

/** The given values of some parameters; null where none was given. */
export type Given<Name extends ParameterName> = { readonly [Each in Name]: Values[Each] | null };

export const PARAMETERS: { readonly [Name in ParameterName]: Parameter<Values[Name]> } = {
  party: party('The owner; zeros for a party that never had any coin.'),
  migration_id: {
    parse: parseInt64,
    print: String,
    expected: 'an integer from -9223372036854775808 to 9223372036854775807',
    description:
      'The newest migration that has a snapshot, of balances and movements that has an update, unless given.',
    schema: { type: 'integer', format: 'int64' },
  },
  record_time: time('The newest snapshot at or before this time; the newest one unless given.'),
  at: time('Any time that was reached; the time reached now unless given.'),
  from: time('Inclusive; from the first snapshot, or update, on unless given.'),
  to: time('Inclusive; up to the newest snapshot, or update, unless given.'),
  every: {
    parse: (text: string) => parseDuration(text) || null,
    print: formatDuration,
    expected: `${DURATION_EXPECTED}, and a multiple of the snapshot period`,
    description:
      'Only snapshots of the grid whose time is a multiple of this, in UTC; a multiple of the snapshot period.',
    schema: { type: 'string' },
  },
  order: oneOf(['desc', 'asc'], 'Newest first, or oldest first.'),
  by: oneOf(['total', 'unlocked', 'locked'], 'The amount that owners are ordered by, largest first.'),
  prefix: {
    parse: (text: string) => (text !== '' && [...text].length <= PREFIX_CHARS_MAX ? text : null),
    print: itself,
    expected: `1 to ${PREFIX_CHARS_MAX} characters that the party id begins with`,
    description: 'What the party id begins with; case counts.',
    schema: { type: 'string', minLength: 1, maxLength: PREFIX_CHARS_MAX },
  },
  contains: {
    parse: (text: string) => (text !== '' && [...text].length <= PREFIX_CHARS_MAX ? text.toLowerCase() : null),
    print: itself,
    expected: `1 to ${PREFIX_CHARS_MAX} characters that the party id contains`,
    description: 'Only owners whose party ids contain this, in any case. They keep their ranks.',
    schema: { type: 'string', minLength: 1, maxLength: PREFIX_CHARS_MAX },
  },
  kind: {
    parse(text: string) {
      const kinds = new Set(text.split(',').map((each) => MOVEMENT_KINDS.find((kind) => kind === each)));
      return kinds.has(undefined) ? null : MOVEMENT_KINDS.filter((kind) => kinds.has(kind));
    },
    print: (kinds) => kinds.join(','),
    expected: `${MOVEMENT_KINDS.join(' or ')}, or several of them with commas between`,
    description: 'Only movements of these kinds; may be given several times.',
    schema: { type: 'string' },
  },
  min: {
    parse(text: string) {
      const units = parseAmount(text);
      return units === null || units < 0n ? null : units;
    },
    print: formatAmount,
    expected: 'a decimal of at most 28 integer and 10 fraction digits that is not negative, such as 1000.5',
    description:
      'Only movements that changed a total by at least as much; with 0, or unless given, those of locks too.',
    schema: { type: 'string' },
  },
  instrument_admin: party('The admin of a token, with `instrument_id`; the coin unless both are given.'),
  instrument_id: {
    parse: (text: string) => (text.isWellFormed() && Buffer.byteLength(text) <= INSTRUMENT_ID_BYTES_MAX ? text : null),
    print: itself,
    expected: INSTRUMENT_ID_EXPECTED,
    description: `The id of a token, of at most ${INSTRUMENT_ID_BYTES_MAX} bytes, with \`instrument_admin\`.`,
    schema: { type: 'string' },
  },
  id: {
    parse: (text: string) => (text.isWellFormed() && [...text].length <= ID_CHARS_MAX ? text : null),
    print: itself,
    expected: `the id of an update or of a contract, of at most ${ID_CHARS_MAX} characters`,
    description: 'The id of an update or of a contract, as the ledger has it.',
    schema: { type: 'string', maxLength: ID_CHARS_MAX },
  },
};

/** Those that are in the path of an operation. */
export const IN_PATH: readonly string[] = ['party', 'id'] satisfies readonly ParameterName[];

const PERIOD_LENGTH: Parameter<PeriodLength> = {
  parse: parsePeriodLength,
  print: formatPeriodLength,
  expected: PERIOD_LENGTH_EXPECTED,
  initial: '1d',
  description:
    'Periods end at multiples of this in UTC: weeks on Mondays, months (`1mo`) on the first. `all`: one period.',
  schema: { type: 'string', default: '1d' },
};

/** The parameter of a table whose name is only known at run time. */
export function parameter(name: ParameterName, table: TableName): Parameter<unknown> {
  return (table === 'statement' && name === 'every' ? PERIOD_LENGTH : PARAMETERS[name]) as Parameter<unknown>;
}

/** Where a page begins, and what all pages of a question have in common. */
export interface PageStart {
  readonly migrationId: bigint;
  /** The record time of the snapshot that the first page is of; of a list, the newest that may be in it. */
  readonly snapshot: bigint;
  /** The last row of the page before: its party, record time or rank. */
  readonly last: string;
  /** The page before is of the coin, and this one names an instrument, which must be the coin then. */
  readonly isOfCoin?: boolean;
}

interface Paged {
  readonly limit: number;
  /** Null: the first page. */
  readonly after: PageStart | null;
}

export const INSTRUMENT = ['instrument_admin', 'instrument_id'] as const;

/** The parameters of each table, and whether it has pages. */
export const TABLES = {
  snapshots: { parameters: ['migration_id', 'from', 'to', 'every', 'order'], paged: true },
  owners: { parameters: ['migration_id', 'record_time', 'prefix', ...INSTRUMENT], paged: true },
  history: { parameters: ['party', 'migration_id', 'from', 'to', 'every', ...INSTRUMENT], paged: false },
  changes: { parameters: ['party', 'migration_id', 'from', 'to', 'order', ...INSTRUMENT], paged: true },
  top: { parameters: ['migration_id', 'record_time', 'by', 'contains', ...INSTRUMENT], paged: true },
  movements: { parameters: ['party', 'migration_id', 'from', 'to', 'kind', 'order', ...INSTRUMENT], paged: true },
  balance: { parameters: ['party', 'migration_id', 'at', ...INSTRUMENT], paged: false },
  statement: { parameters: ['party', 'migration_id', 'from', 'to', 'every', ...INSTRUMENT], paged: false },
  'all movements': { parameters: ['migration_id', 'from', 'to', 'min', ...INSTRUMENT], paged: true },
  locks: { parameters: ['party', 'migration_id', 'record_time', ...INSTRUMENT], paged: true },
  instruments: { parameters: ['migration_id', 'record_time'], paged: true },
  'owner instruments': { parameters: ['party', 'migration_id', 'record_time'], paged: true },
  unreadable: { parameters: ['migration_id'], paged: true },
  found: { parameters: ['id'], paged: false },
} as const satisfies Readonly<
  Record<string, { readonly parameters: readonly ParameterName[]; readonly paged: boolean }>
>;

export type TableName = keyof typeof TABLES;
type OfTable<Name extends TableName> = (typeof TABLES)[Name];

/** The values of a table's parameters. */
export type TableQuery<Name extends TableName> = {
  readonly [Each in OfTable<Name>['parameters'][number]]: Each extends 'party' | 'id'
    ? string
    : [Name, Each] extends ['statement', 'every']
      ? PeriodLength | null
      : Values[Each] | null;
} & (OfTable<Name>['paged'] extends true ? Paged : unknown);

/** What some owners have at some times: of any size, so it is answered in parts. */
export interface BalancesQuery extends Given<'migration_id' | 'instrument_admin' | 'instrument_id'> {
  /** Distinct, in the order asked, as are the owners. */
  readonly at: readonly bigint[];
  readonly owners: readonly string[];
  /** The token of the part before; null: the first one. */
  readonly after: string | null;
}

/** Plain values, so that it can be sent to another thread. */
export type TableQuestion =
  | { [Name in TableName]: { readonly table: Name; readonly query: TableQuery<Name> } }[TableName]
  | { readonly table: 'balances'; readonly query: BalancesQuery };

/** Rows in a page: at most, and by default. */
export const LIMIT_MAX = 1000;
export const LIMIT_DEFAULT = 100;

/** The rows of a page, from facts with one more where there is another page; and that page's token, null at the end. */
export function pageOf<Fact>(
  found: readonly Fact[],
  of: { table: TableName; query: Paged & Partial<Given<ParameterName>>; migrationId: number; snapshot: number },
  nameOf: (fact: Fact, index: number) => string,
): { readonly rows: readonly Fact[]; readonly next: string | null } {
  const { table, query, migrationId, snapshot } = of;
  const { limit } = query;
  if (found.length <= limit) return { rows: found, next: null };
  const last = nameOf(found[limit - 1]!, limit - 1);
  const start = { migrationId: BigInt(migrationId), snapshot: BigInt(snapshot), last };
  return { rows: found.slice(0, limit), next: encodePageToken(table, query, start) };
}

/** A token has all that the next page depends on, so it is valid forever, in any process. It is no secret: it is validated like a request. */
function encodePageToken(
  table: TableName,
  query: Partial<Given<ParameterName>>,
  { migrationId, snapshot, last }: PageStart,
): string {
  const given = TABLES[table].parameters.flatMap((name) => {
    const value = query[name] ?? null;
    return value === null ? [] : [[name, parameter(name, table).print(value)]];
  });
  return encodeToken([table, given, String(migrationId), formatTime(snapshot), last]);
}

/** Where a token's page begins, and the parameters that were given. Null for an invalid token, or one of another table. */
export function decodePageToken(table: TableName, text: string) {
  const token = decodeToken(text);
  if (token.length !== 5 || token[0] !== table) return null;
  const [, pairs, migration, time, last] = token;
  const migrationId = typeof migration === 'string' ? parseInt64(migration) : null;
  const snapshot = typeof time === 'string' ? parseRequestTime(time) : null;
  const given = givenOf(table, pairs);
  if (migrationId === null || snapshot === null || given === null || typeof last !== 'string') return null;
  return { start: { migrationId, snapshot, last }, given };
}

/** The question of the page or part after the one that had this token. */
export function nextQuestion(question: TableQuestion, token: string): TableQuestion {
  if (question.table === 'balances') return { ...question, query: { ...question.query, after: token } };
  const { start } = decodePageToken(question.table, token)!;
  return { ...question, query: { ...question.query, after: start } } as TableQuestion;
}

/** An opaque text of a list of JSON values. */
export function encodeToken(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** The values of such a text; none where it is another text. */
export function decodeToken(text: string): readonly unknown[] {
  const bytes = Buffer.from(text, 'base64url');
  const values = bytes.toString('base64url') === text ? jsonOrNull(bytes.toString()) : null;
  return Array.isArray(values) ? values : [];
}

function givenOf(table: TableName, pairs: unknown): Map<ParameterName, unknown> | null {
  if (!Array.isArray(pairs)) return null;
  const given = new Map<ParameterName, unknown>();
  for (const pair of pairs as readonly unknown[]) {
    const [name, text] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    const known = TABLES[table].parameters.find((each) => each === name);
    const value = known === undefined || typeof text !== 'string' ? null : parameter(known, table).parse(text);
    if (known === undefined || value === null) return null;
    given.set(known, value);
  }
  return given;
}

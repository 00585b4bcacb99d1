import { INT64_MAX } from '../../json/exact-number.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { VIEWS_DAMAGED } from '../../machine-errors.ts';

/** Amounts and ids as SQLite columns hold them: exact at any width. */
export type Stored = string | number | bigint | Buffer | null;

/** Of units that are too wide for an INTEGER. */
const WIDE_BYTES = 16;

/** Units below 2^63 as an INTEGER, larger ones (below 2^127) as 16 bytes, big-endian. */
export function unitsColumn(units: bigint): bigint | Buffer {
  if (units <= INT64_MAX) return units;
  return Buffer.from(units.toString(16).padStart(WIDE_BYTES * 2, '0'), 'hex');
}

export function unitsOf(column: bigint | Buffer): bigint {
  return typeof column === 'bigint' ? column : BigInt(`0x${column.toString('hex')}`);
}

/** The columns of `holding` that a coin's terms follow from, read as bigints, and its owner's party. */
export interface CoinRow {
  readonly locked: bigint;
  readonly owner: string;
  readonly amount: bigint | Buffer;
  readonly rate: bigint | Buffer;
  readonly round: bigint;
  readonly extra: string | null;
}

export function coinTerms({ locked, owner, amount, rate, round, extra }: CoinRow) {
  return { entity: coinEntity(locked === 1n), owner, amount: unitsOf(amount), rate: unitsOf(rate), round, extra };
}

/** An expiry round as a column: null for never. */
export function expiryColumn(expiry: number | bigint): number | bigint | null {
  return expiry === Infinity ? null : expiry;
}

/** A value that is stored as text. Where it is not of the form that was written, the error is that of a damaged database. */
export function parseColumn<T>(column: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    const message = `views.db: ${column}: ${(error as Error).message}`;
    throw Object.assign(new Error(message, { cause: error }), { code: VIEWS_DAMAGED });
  }
}

/** Who is followed, as `setting` has it: a JSON list of parties; null where all owners are. */
export function followedIn(text: string | null): ReadonlySet<string> | null {
  return text === null ? null : parseColumn('setting.followed', text, partiesIn);
}

function partiesIn(text: string): ReadonlySet<string> {
  const listed: unknown = JSON.parse(text);
  if (Array.isArray(listed)) return new Set(listed);
  throw new TypeError('it is no list');
}

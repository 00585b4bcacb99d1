import type { Database, Statement } from 'better-sqlite3';
import { INT64_MAX } from '../../json/exact-number.ts';
import { coinEntity } from '../../ledger/templates.ts';
import { VIEWS_DAMAGED } from '../../machine-errors.ts';

/** Amounts and ids as SQLite columns hold them: exact at any width. */
type Stored = string | number | bigint | Buffer | null;

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

/** Rows per statement: measured; fewer cost more calls, more cost more binding. */
const ROWS = 16;
const DELETED_ROWS = 64;

/** Writes rows in groups: one statement of 16 rows costs about half of 16 statements. */
export class BulkRows {
  readonly #many: Statement;
  readonly #one: Statement;
  readonly #columns: number;
  readonly #values: Stored[];
  #filled = 0;

  private constructor(db: Database, columns: number, rows: number, sqlOf: (values: string) => string) {
    const row = `(${Array(columns).fill('?').join(', ')})`;
    this.#many = db.prepare(sqlOf(`VALUES ${Array(rows).fill(row).join(', ')}`));
    this.#one = db.prepare(sqlOf(`VALUES ${row}`));
    this.#columns = columns;
    this.#values = Array<Stored>(rows * columns).fill(null);
  }

  /** `insert` is everything before VALUES, such as `INSERT INTO held`. */
  static inserting(db: Database, insert: string, columns: number): BulkRows {
    return new BulkRows(db, columns, ROWS, (values) => `${insert} ${values}`);
  }

  /** Deletes the rows of a table that have these values in these columns, its key. */
  static deleting(db: Database, table: string, key: readonly string[]): BulkRows {
    const where = `DELETE FROM ${table} WHERE (${key.join(', ')}) IN`;
    return new BulkRows(db, key.length, DELETED_ROWS, (values) => `${where} (${values})`);
  }

  /** Adds a row: a value for each column. */
  add(...row: Stored[]): void {
    const values = this.#values;
    let at = this.#filled;
    for (let i = 0; i < row.length; i++) values[at++] = row[i]!;
    this.#filled = at;
    if (at < values.length) return;
    this.#many.run(...values);
    this.#filled = 0;
  }

  /** Writes the remaining rows; called before the commit. */
  finish(): void {
    for (let at = 0; at < this.#filled; at += this.#columns) {
      this.#one.run(this.#values.slice(at, at + this.#columns));
    }
    this.#filled = 0;
  }
}

/**
 * The sums of one owner's coins, unlocked or locked: enough for every total and, until the first coin expires, for the
 * fee at any round (docs/rules.md, fees). Amounts in 1e-10 units, rateRound in units times rounds.
 */
export interface Sums {
  count: number;
  amount: bigint;
  rate: bigint;
  rateRound: bigint;
  /** A lower bound of the expiry rounds: only falls, and is reset to Infinity when the count is 0. */
  expiryBound: number | bigint;
}

/** Shared by all owners without coin of a kind: most never lock any. Never changed. */
export const NO_SUMS: Sums = Object.freeze(noSums());

/** What one contract adds to its owner's sums. */
export interface SumTerms {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly rateRound: bigint;
  readonly expiry: number | bigint;
}

export function noSums(): Sums {
  return { count: 0, amount: 0n, rate: 0n, rateRound: 0n, expiryBound: Infinity };
}

export function addTo(sums: Sums, terms: SumTerms): void {
  sums.count += 1;
  sums.amount += terms.amount;
  sums.rate += terms.rate;
  sums.rateRound += terms.rateRound;
  if (terms.expiry < sums.expiryBound) sums.expiryBound = terms.expiry;
}

export function takeFrom(sums: Sums, terms: Omit<SumTerms, 'expiry'>): void {
  sums.count -= 1;
  sums.amount -= terms.amount;
  sums.rate -= terms.rate;
  sums.rateRound -= terms.rateRound;
  if (sums.count > 0) {
    if (sums.amount < 0n || sums.rate < 0n || sums.rateRound < 0n) throw new Error('an owner total fell below zero');
    return;
  }
  if (sums.count < 0 || sums.amount !== 0n || sums.rate !== 0n || sums.rateRound !== 0n) {
    throw new Error('an owner without coin has a total that is not zero');
  }
  sums.expiryBound = Infinity;
}

/** The size of the largest version: ten numbers, none above 2^2048. */
const scratch = Buffer.allocUnsafe(4096);

/** The encoding of `total.v`: numbers in LEB128; the locked half only where there is locked coin. Valid until the next one. */
export function encodeVersion(unlocked: Sums, locked: Sums): Buffer {
  let at = writeSums(0, unlocked);
  if (locked.count > 0) at = writeSums(at, locked);
  return scratch.subarray(0, at);
}

function writeSums(start: number, sums: Sums): number {
  let at = writeSmall(start, sums.count);
  if (sums.count === 0) return at;
  at = writeLarge(at, sums.amount);
  at = writeLarge(at, sums.rate);
  at = writeLarge(at, sums.rateRound);
  const bound = sums.expiryBound;
  return bound === Infinity ? writeSmall(at, 0) : writeLarge(at, BigInt(bound) + 1n);
}

/** Four groups of seven bits: they fit the machine's integers. */
const QUARTET_BITS = 28;
const QUARTET = 2 ** QUARTET_BITS;

function writeSmall(start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= QUARTET; rest = Math.floor(rest / QUARTET)) {
    // Bit operators take a number modulo 2^32.
    const low = rest & (QUARTET - 1);
    scratch[at++] = low | 128;
    scratch[at++] = (low >>> 7) | 128;
    scratch[at++] = (low >>> 14) | 128;
    scratch[at++] = (low >>> 21) | 128;
  }
  for (; rest >= 128; rest >>>= 7) scratch[at++] = rest | 128;
  scratch[at++] = rest;
  return at;
}

const GROUP_BITS = 49;

/** As writeSmall, seven groups of seven bits at a time, so that bigint arithmetic stays rare. */
function writeLarge(start: number, value: bigint): number {
  let at = start;
  let rest = value;
  while (rest > 0x1fffffffffffffn) {
    let low = Number(BigInt.asUintN(GROUP_BITS, rest));
    for (let i = 0; i < 7; i++) {
      scratch[at++] = (low % 128) | 128;
      low = Math.floor(low / 128);
    }
    rest >>= BigInt(GROUP_BITS);
  }
  return writeSmall(at, Number(rest));
}

const LISTS_BYTES = 64 * 1024;
/** Of a number in LEB128. */
const NUMBER_BYTES_MAX = 8;

/** Encodes lists of whole numbers in ascending order, each number as the difference from the one before in LEB128. */
export class NumberLists {
  #bytes = Buffer.allocUnsafe(LISTS_BYTES);
  #length = 0;

  encode(numbers: readonly number[]): Buffer {
    const most = numbers.length * NUMBER_BYTES_MAX;
    if (this.#length + most > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafe(Math.max(LISTS_BYTES, most));
      this.#length = 0;
    }
    const [bytes, start] = [this.#bytes, this.#length];
    let [at, before] = [start, 0];
    for (const number of numbers) {
      let rest = number - before;
      for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128;
      bytes[at++] = rest;
      before = number;
    }
    this.#length = at;
    return bytes.subarray(start, at);
  }
}

export function decodeNumbers(bytes: Buffer): number[] {
  const numbers: number[] = [];
  let [number, scale] = [0, 1];
  for (const byte of bytes) {
    number += (byte & 127) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    numbers.push(number);
    scale = 1;
  }
  return numbers;
}

export function decodeVersion(v: Uint8Array): { unlocked: Sums; locked: Sums } {
  const reader = { bytes: v, at: 0 };
  const unlocked = readSums(reader);
  const locked = reader.at < v.length ? readSums(reader) : NO_SUMS;
  if (reader.at !== v.length) throw new Error('a version of total has bytes after its end');
  return { unlocked, locked };
}

interface ByteReader {
  readonly bytes: Uint8Array;
  at: number;
}

function readSums(reader: ByteReader): Sums {
  const count = Number(readNumber(reader));
  if (count === 0) return NO_SUMS;
  const amount = readNumber(reader);
  const rate = readNumber(reader);
  const rateRound = readNumber(reader);
  const bound = readNumber(reader);
  return { count, amount, rate, rateRound, expiryBound: bound === 0n ? Infinity : bound - 1n };
}

function readNumber(reader: ByteReader): bigint {
  let value = 0n;
  let shift = 0n;
  for (;;) {
    let low = 0;
    let scale = 1;
    for (let i = 0; i < 7; i++) {
      const byte = reader.bytes[reader.at++];
      if (byte === undefined) throw new Error('a version of total ends too early');
      low += (byte & 127) * scale;
      if (byte < 128) return value + (BigInt(low) << shift);
      scale *= 128;
    }
    value += BigInt(low) << shift;
    shift += BigInt(GROUP_BITS);
  }
}

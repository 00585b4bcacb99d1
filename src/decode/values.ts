import { ExactNumber, INT64_MAX, MayBeRounded, NUMBER_CHARS_MAX } from '../json/exact-number.ts';
import { BadUpdate } from '../ledger/bad-update.ts';
import { isPartyId, PARTY_EXPECTED } from '../ledger/ledger-ids.ts';
import { LEDGER_TIME_EXPECTED, type Micros, parseLedgerTime } from '../ledger/time.ts';

/** A JSON object as it was parsed: nothing in it is validated yet. */
export type Wire = Readonly<Record<string, unknown>>;

export const CONTRACT_ID_CHARS_MAX = 255;
/** The ledger counts the nodes of a transaction with a signed 32-bit number. */
export const NODE_MAX = 2 ** 31 - 1;
const DIGITS = /^[0-9]{1,60}$/;

export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

export function readObject(value: unknown, field: string): Wire {
  return isWire(value) ? value : fault(field, value, 'an object');
}

export function readList(value: unknown, field: string): readonly unknown[] {
  return Array.isArray(value) ? value : fault(field, value, 'a list');
}

/** Text that survives a round trip through UTF-8: a lone surrogate would be stored as another character. */
export function readText(value: unknown, field: string, expected: string): string {
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : fault(field, value, expected);
}

export function readContractId(value: unknown, field: string): string {
  return isContractId(value) ? value : fault(field, value, 'a contract id of 1-255 characters');
}

export function isContractId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= CONTRACT_ID_CHARS_MAX && value.isWellFormed();
}

export function readTime(value: unknown, field: string): Micros {
  const time = typeof value === 'string' ? parseLedgerTime(value) : null;
  return time ?? fault(field, value, LEDGER_TIME_EXPECTED);
}

/** The parties validated last, because most creates name the dso and one owner, twice each. Comparing is cheaper than validating again. */
const knownParties = ['', '', '', ''];
let oldestKnown = 0;

function isKnownParty(text: string): boolean {
  if (knownParties.includes(text)) return true;
  if (!isPartyId(text)) return false;
  knownParties[oldestKnown] = text;
  oldestKnown = (oldestKnown + 1) % knownParties.length;
  return true;
}

export function readParty(value: unknown, field: string): string {
  return typeof value === 'string' && value !== '' && isKnownParty(value) ? value : fault(field, value, PARTY_EXPECTED);
}

export function readParties(value: unknown, field: string): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : fault(field, value, 'a list of party ids');
  for (let i = 0; i < list.length; i++) {
    const party = list[i];
    if (typeof party !== 'string' || party === '' || !isKnownParty(party))
      fault(`${field}[${i}]`, party, PARTY_EXPECTED);
  }
  return list as readonly string[];
}

/** The node number as the Ledger API gives it. */
export function readNodeId(value: unknown, field: string): number {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= NODE_MAX;
  return fits ? value + 0 : fault(field, value, 'a whole number of 0 to 2147483647');
}

/** The node number as Scan gives it: the digits after the last `:` of an event id. */
export function readEventIdNode(value: unknown, field: string): number {
  if (typeof value === 'string') {
    const digits = value.slice(value.lastIndexOf(':') + 1);
    if (digits.length < value.length && DIGITS.test(digits) && Number(digits) <= NODE_MAX) return Number(digits);
  }
  return fault(field, value, 'an event id, <update id>:<number of 0 to 2147483647>');
}

/** A participant's number of an update: a whole number of 0 or more, null for anything else. */
export function ledgerOffsetOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

export function readMigrationId(value: unknown, field: string): number {
  const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  return fits ? value + 0 : fault(field, value, 'a whole number of 0 or more');
}

/** A Daml Int that is not negative: a string of digits, or a JSON integer below 2^53. */
export function readRoundNumber(value: unknown, field: string): bigint {
  if (typeof value === 'number') throw new MayBeRounded();
  if (value instanceof ExactNumber && value.text.length <= NUMBER_CHARS_MAX) {
    const { whole } = value;
    if (whole !== null && whole >= 0n && whole <= Number.MAX_SAFE_INTEGER) return whole;
  }
  if (typeof value === 'string' && DIGITS.test(value)) {
    const round = BigInt(value);
    if (round <= INT64_MAX) return round;
  }
  return fault(field, value, 'a whole number of 0 to 9223372036854775807, as a string from 2^53 on');
}

/**
 * What is wrong with a field, by its path within the object being read. Readers throw it, and the caller that knows the path
 * of that object turns it into a BadUpdate. So good updates cost no path.
 */
class Fault {
  readonly field: string;
  readonly given: unknown;
  readonly expected: string;

  constructor(field: string, given: unknown, expected: string) {
    this.field = field;
    this.given = given;
    this.expected = expected;
  }

  under(path: string): BadUpdate {
    if (path === '') return new BadUpdate('bad_field', this.field, this.given, this.expected);
    const field = this.field === '' ? path : `${path}.${this.field}`;
    return new BadUpdate('bad_field', field, this.given, this.expected);
  }
}

export function fault(field: string, given: unknown, expected: string): never {
  throw new Fault(field, given, expected);
}

/** Runs `read`; a Fault becomes a BadUpdate with `path` before its own. */
export function within<T>(path: () => string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw located(error, path);
  }
}

/** As `within`, but returns the BadUpdate: it does not matter in every contract. */
export function attempt<T>(path: () => string, read: () => T): T | BadUpdate {
  try {
    return read();
  } catch (error) {
    return located(error, path);
  }
}

function located(error: unknown, path: () => string): BadUpdate {
  if (error instanceof Fault) return error.under(path());
  throw error;
}

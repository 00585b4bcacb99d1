import { isUtf8 } from 'node:buffer';
import { MayBeRounded, parseExactJson } from '../json/exact-number.ts';
import { parseErrorAt } from '../json/parse-error.ts';
import { BadUpdate, type FaultCode } from '../ledger/bad-update.ts';
import type { Decoded, ImportMarker } from '../ledger/update.ts';
import { decodeLedgerApi, type LedgerApiOptions, looksLikeLedgerApi } from './ledger-api.ts';
import { type PartialTransaction, readPartially } from './partial/transaction.ts';
import { decodePartialTransaction, decodeScan, looksLikeScan } from './scan.ts';
import {
  fault,
  isWire,
  ledgerOffsetOf,
  readList,
  readMigrationId,
  readObject,
  readText,
  readTime,
  type Wire,
  within,
} from './values.ts';

/** Bytes or characters of an unreadable message that are looked at to describe its fault; a message may be megabytes. */
const SHOWN_MAX = 400;
/** Where a created event of either format has its payload, and where its views, which may be nested to any depth. */
const PAYLOAD_KEYS: readonly string[] = ['create_arguments', 'createArgument'];
const VIEW_KEYS: readonly string[] = ['interface_views', 'interfaceViews'];
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes the bytes of one message; its shape shows the wire format. Pure. Throws BadUpdate for every fault that can be
 * found without state; those that depend on the dso are kept in the events (see CoinCreate).
 */
export function decodeMessage(bytes: Uint8Array, options: LedgerApiOptions): Decoded {
  return decodePartially(bytes) ?? decodeWhole(bytes, options);
}

/** As `decodeMessage`, with the fault of a bad message as the result. */
export function tryDecode(bytes: Uint8Array, options: LedgerApiOptions): Decoded | BadUpdate {
  try {
    return decodeMessage(bytes, options);
  } catch (error) {
    if (error instanceof BadUpdate) return error;
    throw error;
  }
}

/** Decodes a good transaction of Scan; null for anything else, and `decodeWhole` then says what is wrong with it. */
export function decodePartially(bytes: Uint8Array): Decoded | null {
  const read = isUtf8(bytes) ? readPartially(bytes, 0) : null;
  return read?.next === bytes.length ? decoded(read.transaction) : null;
}

/** Decodes good transactions of Scan in a text that has many, which must be UTF-8: what begins at a position, and where it ends. Null for anything else. */
export function partialDecoder(
  text: Uint8Array,
): (at: number) => { readonly seen: Decoded; readonly end: number } | null {
  return (at) => {
    const found = readPartially(text, at);
    const seen = found && decoded(found.transaction);
    return seen && { seen, end: found.end };
  };
}

function decoded(transaction: PartialTransaction): Decoded | null {
  try {
    return within(atTop, () => decodePartialTransaction(transaction));
  } catch (error) {
    if (error instanceof BadUpdate || error instanceof MayBeRounded) return null;
    throw error;
  }
}

/** As `decodeMessage`, with all of the message parsed. */
export function decodeWhole(bytes: Uint8Array, options: LedgerApiOptions): Decoded {
  const text = decodeText(bytes);
  const message = parseJson(text, JSON.parse);
  try {
    return decodeValue(message, options);
  } catch (error) {
    // Payloads have their numbers as strings, so hardly any message is parsed twice.
    if (!(error instanceof MayBeRounded)) throw error;
    return decodeValue(withExactPayloads(message, parseJson(text, parseExactJson)), options);
  }
}

function decodeValue(message: unknown, options: LedgerApiOptions): Decoded {
  if (message === null) return { kind: 'ignored', what: 'null value' };
  if (!isWire(message)) throw notAFeed(message);
  const decoded = within(atTop, () => {
    if (looksLikeScan(message)) return decodeScan(message);
    if (looksLikeImportMarker(message)) return decodeImportMarker(message);
    return looksLikeLedgerApi(message) ? decodeLedgerApi(message, options) : null;
  });
  if (decoded === null) throw notAFeed(message);
  return decoded;
}

/** The message with the payloads of another parse of the same text; all other numbers are small, and read as doubles. */
function withExactPayloads(message: unknown, exact: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const [fields, exactFields] = [message as Record<string, unknown>, exact as Wire];
  for (const key of Object.keys(fields)) {
    if (VIEW_KEYS.includes(key)) continue;
    const inner = PAYLOAD_KEYS.includes(key) ? exactFields[key] : withExactPayloads(fields[key], exactFields[key]);
    Object.defineProperty(fields, key, { value: inner });
  }
  return message;
}

function atTop(): string {
  return '';
}

function decodeText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    const code = endsWithinCharacter(bytes) ? 'cut_off' : 'not_utf8';
    throw unreadable(code, new TextDecoder().decode(bytes.subarray(0, SHOWN_MAX)), 'UTF-8 text');
  }
}

function parseJson(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    const code = endsWithinValue(text, error as Error) ? 'cut_off' : 'not_json';
    throw unreadable(code, text.slice(0, SHOWN_MAX), `JSON (${(error as Error).message})`);
  }
}

function unreadable(code: FaultCode, given: string, expected: string): BadUpdate {
  return new BadUpdate(code, 'message', given, code === 'cut_off' ? `${expected}; this looks cut off` : expected);
}

/** Whether the bytes are UTF-8, perhaps cut within the last character. */
function endsWithinCharacter(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether an object is JSON up to where it was cut off. */
function endsWithinValue(text: string, error: Error): boolean {
  if (!/^\s*\{/.test(text)) return false;
  const at = parseErrorAt(error);
  return at === 'end' || (at !== null && at >= text.trimEnd().length);
}

/** The one message of our own: it ends a snapshot import (docs/rules.md, rule 13). */
function looksLikeImportMarker(message: Wire): boolean {
  return isWire(message.seed);
}

/** Throws Fault. */
function decodeImportMarker(message: Wire): ImportMarker {
  const mark = readObject(message.seed, 'seed');
  const migrationId = readMigrationId(mark.migration_id, 'seed.migration_id');
  const recordTime = readTime(mark.record_time, 'seed.record_time');
  const offset = ledgerOffsetOf(mark.offset);
  if (offset === null && mark.offset != null) fault('seed.offset', mark.offset, 'a whole number of 0 or more');
  const times = readList(mark.synchronizer_times ?? [], 'seed.synchronizer_times').map((each, i) => {
    const field = `seed.synchronizer_times[${i}]`;
    const named = readObject(each, field);
    const time = readTime(named.recordTime, `${field}.recordTime`);
    if (time > recordTime)
      fault(`${field}.recordTime`, named.recordTime, 'a time up to record_time, the largest of them');
    const synchronizerId = readText(named.synchronizerId, `${field}.synchronizerId`, 'a synchronizer id');
    return { synchronizerId, recordTime: time };
  });
  return { kind: 'import marker', migrationId, recordTime, times, offset };
}

const FEED_EXPECTED = 'one update, as an item of Scan /v2/updates or of the JSON Ledger API /v2/updates';

/** Other JSON that people take for a feed, recognized by a field that only it has. */
const LOOKALIKES: readonly (readonly [field: string, what: string])[] = [
  ['transactions', 'a whole Scan page in one message'],
  ['created_events', 'a holdings or ACS listing'],
  ['summaries', 'a holdings summary'],
  ['contractEntry', 'an ACS listing'],
  ['event_type', 'a single event'],
  ['CreatedEvent', 'a single event'],
  ['ArchivedEvent', 'a single event'],
  ['ExercisedEvent', 'a single event'],
  ['createdEvent', 'a single event'],
  ['archivedEvent', 'a single event'],
  ['created', 'the events of one contract'],
  ['transaction', 'protobuf JSON'],
  ['reassignment', 'protobuf JSON'],
  ['offsetCheckpoint', 'protobuf JSON'],
  ['topologyTransaction', 'protobuf JSON'],
];

/** The BadUpdate for a message that is neither format; says what it looks like where that is known. */
function notAFeed(message: unknown): BadUpdate {
  const what = isWire(message) ? lookalike(message) : undefined;
  return new BadUpdate(
    'not_a_feed',
    'message',
    message,
    what === undefined ? FEED_EXPECTED : `${FEED_EXPECTED}; this looks like ${what}`,
  );
}

function lookalike(message: Wire): string | undefined {
  const known = LOOKALIKES.find(([field]) => Object.hasOwn(message, field));
  if (known !== undefined) return known[1];
  const [first] = Object.values(message);
  return isWire(first) && 'event_type' in first ? 'events without their update' : undefined;
}

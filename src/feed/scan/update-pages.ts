import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { partialDecoder, tryDecode } from '../../decode/decode-message.ts';
import { isObject } from '../../json/untrusted.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { type Micros, parseLedgerTime } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';
import { containerElements, listedElements } from '../file/elements.ts';
import { LINE_BYTES_MAX } from '../limits.ts';
import { AnswerFailure, type JsonClient } from '../network/json-client.ts';
import { BrokenContainer } from '../source.ts';
import { askPage, PAGE_SIZE_MAX } from './scan-client.ts';
import { isAhead, type ScanPosition } from './scan-position.ts';

/** What an answer may have beside the elements of its list: far more than a Scan gives. */
const REST_BYTES_MAX = 65_536;
const RECORD_TIME = '"record_time":"';

/** An update as a Scan gave it. */
export interface ScanUpdate {
  readonly bytes: Buffer;
  /** Its id, or all of its text where it has none. */
  readonly id: string;
  /** Where its Scan has it. Null where its migration and time cannot be read: then it is bad. */
  readonly at: ScanPosition | null;
  /** How far the ledger is read with it; null where it is bad, or its time cannot be yet. */
  readonly upTo: ScanPosition | null;
  /** Left out where it is bad. */
  readonly decoded?: Decoded;
}

/** The updates of a page, in the Scan's order: by migration, record time and synchronizer. Throws AnswerFailure where it is no page. */
export async function updatesIn(client: JsonClient, page: Buffer): Promise<readonly ScanUpdate[]> {
  try {
    const look = isUtf8(page) ? partialDecoder(page) : undefined;
    const updates: ScanUpdate[] = [];
    for (const { bytes, seen } of containerElements(page, 'page', look)) {
      requireParsable(client, bytes);
      if (updates.length === PAGE_SIZE_MAX)
        throw new AnswerFailure(`${client.url}: answers with more than ${PAGE_SIZE_MAX} updates`);
      updates.push(updateOf(bytes, seen));
      if (updates.length % 50 === 0) await turn();
    }
    if (updates.length === 0) listedIn(client, page, 'transactions');
    return updates;
  } catch (error) {
    if (!isNoJson(error)) throw error;
    throw new AnswerFailure(`${client.url}: answers with what is no page of updates`);
  }
}

const isNoJson = (error: unknown): boolean => error instanceof BrokenContainer || error instanceof SyntaxError;

/** The first update after a position; undefined where the Scan has none. */
export async function firstAfter(client: JsonClient, after: ScanPosition | null): Promise<ScanUpdate | undefined> {
  return (await updatesIn(client, await askPage(client, { after, pageSize: 1 })))[0];
}

/** The record time that stands last in a page: nearly always that of its last update, long before all are decoded. */
export function lastTimeIn(page: Buffer): Micros | null {
  const start = page.lastIndexOf(RECORD_TIME) + RECORD_TIME.length;
  return start < RECORD_TIME.length ? null : parseLedgerTime(page.toString('latin1', start, page.indexOf('"', start)));
}

/** Throws AnswerFailure for an item that is too long to be parsed: no update or contract is nearly as long. */
export function requireParsable(client: JsonClient, { length }: Buffer): void {
  if (length <= LINE_BYTES_MAX) return;
  const what = `an item of ${length} bytes, which is more than the maximum of ${LINE_BYTES_MAX} bytes`;
  throw new AnswerFailure(`${client.url}: answers with ${what}`);
}

/**
 * The elements of a list in an answer, each as its own bytes, which are not parsed, and the other members of the answer. Throws
 * AnswerFailure where there is no such list.
 */
export function listedIn(
  client: JsonClient,
  page: Buffer,
  key: string,
): { readonly elements: readonly Buffer[]; readonly rest: Readonly<Record<string, unknown>> } {
  const offsetIn = (part: Buffer): number => part.byteOffset - page.byteOffset;
  try {
    const elements: Buffer[] = [];
    for (const { bytes } of listedElements(page, key)) if (elements.push(bytes) === PAGE_SIZE_MAX) break;
    const none = page.subarray(page.length);
    const [first, last] = [elements[0] ?? none, elements.at(-1) ?? none];
    const around = Buffer.concat([page.subarray(0, offsetIn(first)), page.subarray(offsetIn(last) + last.length)]);
    if (around.length > REST_BYTES_MAX) throw new SyntaxError(`more than ${REST_BYTES_MAX} bytes beside the elements`);
    const rest: unknown = JSON.parse(around.toString());
    const left = isObject(rest) ? rest[key] : undefined;
    // Elements that are left are too many, or of a key in another spelling.
    if (isObject(rest) && Array.isArray(left) && left.length === 0) return { elements, rest };
  } catch (error) {
    if (!isNoJson(error)) throw error;
  }
  throw new AnswerFailure(`${client.url}: answers without a list ${key} of at most ${PAGE_SIZE_MAX} elements`);
}

function updateOf(bytes: Buffer, seen: Decoded | undefined): ScanUpdate {
  const decoded = seen ?? tryDecode(bytes, { migrationId: 0 });
  // A bad update must not move the position past all that follows.
  if (decoded instanceof BadUpdate) return { ...undecodedOf(bytes), upTo: null };
  if (decoded.kind !== 'update' || decoded.recordTime === null) return undecodedOf(bytes);
  const { updateId: id, migrationId, recordTime } = decoded;
  const at = { migrationId, recordTime };
  return { bytes, id, at, upTo: possible(at), decoded };
}

/** Record times are not validated yet. */
function possible(at: ScanPosition | null): ScanPosition | null {
  return at === null || isAhead(at, Date.now()) ? null : at;
}

/** Throws a SyntaxError where it is no JSON. */
function undecodedOf(bytes: Buffer): ScanUpdate {
  const value: unknown = JSON.parse(bytes.toString());
  const item = isObject(value) ? value : {};
  const { update_id: id, record_time: time, event } = item;
  const migrationId = isObject(event) ? event.migration_id : item.migration_id;
  const recordTime = typeof time === 'string' ? parseLedgerTime(time) : null;
  const at = typeof migrationId === 'number' && recordTime !== null ? { migrationId, recordTime } : null;
  return { bytes, id: typeof id === 'string' ? id : bytes.toString(), at, upTo: possible(at) };
}

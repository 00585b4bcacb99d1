import { createHash } from 'node:crypto';
import { tryDecode } from '../decode/decode-message.ts';
import { identify } from '../decode/identify.ts';
import { BadUpdate, type Fault } from '../ledger/bad-update.ts';
import { ITEM_BYTES } from '../ledger/digest.ts';
import { parseLedgerTime } from '../ledger/time.ts';
import {
  type Checkpoint,
  type Decoded,
  type EventLog,
  IGNORED_EVENTS,
  type Ignored,
  type ImportMarker,
  type LedgerUpdate,
} from '../ledger/update.ts';
import { type ContractEvent, EVENT_COLUMNS, type EventColumns, EventList, eventAt, numberIn } from './event-columns.ts';
import { LINE_BYTES_MAX } from './limits.ts';
import type { Message } from './source.ts';

/**
 * A batch of consecutive messages as the decode threads hand it to the writer, by a structured clone. To clone an object for each
 * message would take longer than to decode it, and one for each coin a third of the time of decoding it: both are rows of
 * numbers. `messageAt` makes the objects.
 */
export interface DecodedBatch {
  readonly length: number;
  /** The numbers of each message, behind a row of zeros. */
  readonly rows: Float64Array;
  /** The update ids and resume tokens, one after the other. */
  readonly text: string;
  readonly lanes: readonly string[];
  readonly headers: readonly UpdateHeader[];
  /** `seed` of an update of a snapshot import, and EventLog events; other messages as a whole. */
  readonly parts: readonly (UpdatePart | OtherContent)[];
  readonly events: EventColumns;
  /** The messages' own bytes, one after the other, for hashes and dead letters. */
  readonly raw: Uint8Array;
  /** The digest items of the batch's coins, tokens and archives (docs/digest.md), ITEM_BYTES each. */
  readonly items: Uint8Array;
}

/** What many updates have in common: one object for all of a batch. */
type UpdateHeader = Pick<LedgerUpdate, 'kind' | 'format' | 'migrationId' | 'synchronizerId'>;
type UpdatePart = Pick<LedgerUpdate, 'seed' | 'eventLogs'>;
type OtherContent = Checkpoint | ImportMarker | Ignored | Undecodable;

/**
 * The columns of `rows`. What has an end begins at the end in the row before. LANE, HEADER and PART number the entries of their
 * lists; -1 and NaN: none. The last are counts of ignored events, one for each reason.
 */
const [OFFSET, LANE, RAW_END, ID_END, TOKEN_END, EVENT_END, HEADER, PART, RECORD_TIME, LEDGER_OFFSET, IGNORED] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
] as const;
const COLUMNS = IGNORED + IGNORED_EVENTS.length;

export interface DecodedMessage {
  readonly lane: string;
  /** Its number in its lane. */
  readonly offset: number;
  /** The lane's resume token after it. */
  readonly resumeToken: string;
  /** Where its bytes are in the batch's `raw`. */
  readonly start: number;
  readonly end: number;
  readonly content: UpdateContent | OtherContent;
}

export interface UpdateContent extends Omit<LedgerUpdate, 'events' | 'ignored' | 'eventLogs'> {
  readonly events: readonly ContractEvent[];
  readonly eventLogs: readonly EventLog[];
  /** How many of its events were ignored, by the reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** A message that could not be decoded, with what could still be read of it for the operator. */
export interface Undecodable {
  readonly kind: 'bad';
  readonly fault: Fault;
  readonly updateId: string | null;
  readonly recordTime: number | null;
  readonly migrationId: number | null;
  /** Set for a message longer than the limit, of which only the first part is kept. */
  readonly overlong: { readonly length: number; readonly sha256: string } | null;
}

/** Decodes a batch. `raw` becomes the batch's; a larger buffer replaces it where the messages do not fit. */
export function decodeBatch(messages: readonly Message[], raw: Buffer, migrationId: number): DecodedBatch {
  const rawBytes = messages.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  const target = rawBytes <= raw.length ? raw : Buffer.allocUnsafeSlow(rawBytes);
  const rows = new Float64Array((messages.length + 1) * COLUMNS);
  const batch: Building = { rows, text: '', lanes: [], headers: [], parts: [], events: new EventList() };
  let [row, end] = [0, 0];
  for (const message of messages) {
    const { lane, offset, bytes, resumeToken = '' } = message;
    // Bytes that came in this buffer are in their place already.
    if (bytes !== null && (bytes.buffer !== target.buffer || bytes.byteOffset !== target.byteOffset + end))
      target.set(bytes, end);
    end += bytes?.length ?? 0;
    row += COLUMNS;
    rows[row + OFFSET] = offset;
    rows[row + LANE] = numberIn(batch.lanes, lane, (known) => known === lane);
    rows[row + RAW_END] = end;
    rows[row + HEADER] = -1;
    rows[row + PART] = -1;
    const content = contentOf(message, migrationId);
    if (content.kind === 'update') addUpdate(batch, content, row);
    else rows[row + PART] = batch.parts.push(content) - 1;
    rows[row + ID_END] = batch.text.length;
    batch.text += resumeToken;
    rows[row + TOKEN_END] = batch.text.length;
    rows[row + EVENT_END] = batch.events.numbers.length / EVENT_COLUMNS;
  }
  const { text, lanes, headers, parts } = batch;
  const { numbers, texts, values, origins, others, items } = batch.events;
  const events = { rows: Float64Array.from(numbers), texts, values, origins, others };
  const itemBytes = Buffer.allocUnsafeSlow(items.length * ITEM_BYTES);
  itemBytes.write(items.join(''), 'latin1');
  const { length } = messages;
  return { length, rows, text, lanes, headers, parts, events, raw: target.subarray(0, end), items: itemBytes };
}

interface Building {
  readonly rows: Float64Array;
  text: string;
  readonly lanes: string[];
  readonly headers: UpdateHeader[];
  readonly parts: DecodedBatch['parts'][number][];
  readonly events: EventList;
}

function contentOf({ bytes, overlong, decoded }: Message, migrationId: number): Decoded | Undecodable {
  if (bytes === null) return { kind: 'ignored', what: 'null value' };
  if (overlong !== undefined) {
    const expected = `a message of at most ${LINE_BYTES_MAX} bytes`;
    const { fault } = new BadUpdate('overlong', 'message', `${overlong.length} bytes`, expected);
    return { kind: 'bad', fault, updateId: null, recordTime: null, migrationId: null, overlong };
  }
  const content = decoded ?? tryDecode(bytes, { migrationId });
  if (!(content instanceof BadUpdate)) return content;
  const { recordTime, ...identity } = identify(bytes);
  const time = recordTime === null ? null : parseLedgerTime(recordTime);
  return { kind: 'bad', fault: content.fault, ...identity, recordTime: time, overlong: null };
}

function addUpdate(batch: Building, update: LedgerUpdate, row: number): void {
  const { kind, format, migrationId, synchronizerId, updateId, recordTime, offset, seed, events, eventLogs, ignored } =
    update;
  const { rows, headers, parts } = batch;
  rows[row + HEADER] = numberIn(
    headers,
    { kind, format, migrationId, synchronizerId },
    (known) => known.synchronizerId === synchronizerId && known.migrationId === migrationId && known.format === format,
  );
  rows[row + RECORD_TIME] = recordTime ?? Number.NaN;
  rows[row + LEDGER_OFFSET] = offset ?? Number.NaN;
  for (const what of ignored) rows[row + IGNORED + IGNORED_EVENTS.indexOf(what)]! += 1;
  batch.text += updateId;
  for (const event of events) batch.events.add(event, migrationId);
  if (seed !== undefined || eventLogs !== undefined)
    rows[row + PART] = parts.push({ ...(seed && { seed }), ...(eventLogs && { eventLogs }) }) - 1;
}

/** Some of a batch's messages as objects. */
export function messagesOf(batch: DecodedBatch, from: number, to: number): DecodedMessage[] {
  return Array.from({ length: to - from }, (_, i) => messageAt(batch, from + i));
}

/** The lane of a message. */
export function laneAt({ rows, lanes }: DecodedBatch, index: number): string {
  return lanes[rows[(index + 1) * COLUMNS + LANE]!]!;
}

export function messageAt(batch: DecodedBatch, index: number): DecodedMessage {
  const { rows, text, headers, parts } = batch;
  const [before, row] = [index * COLUMNS, (index + 1) * COLUMNS];
  const [start, end, idEnd] = [rows[before + RAW_END]!, rows[row + RAW_END]!, rows[row + ID_END]!];
  const [lane, offset] = [laneAt(batch, index), rows[row + OFFSET]!];
  const resumeToken = text.slice(idEnd, rows[row + TOKEN_END]) || String(offset + 1);
  const [header, part] = [headers[rows[row + HEADER]!], parts[rows[row + PART]!] ?? {}];
  if (header === undefined || 'kind' in part)
    return { lane, offset, resumeToken, start, end, content: part as OtherContent };
  const ignored: Record<string, number> = {};
  for (let i = 0; i < IGNORED_EVENTS.length; i++) {
    const count = rows[row + IGNORED + i]!;
    if (count > 0) ignored[IGNORED_EVENTS[i]!] = count;
  }
  const updateId = text.slice(rows[before + TOKEN_END], idEnd);
  const recordTime = orNull(rows[row + RECORD_TIME]!);
  const events: ContractEvent[] = [];
  for (let at = rows[before + EVENT_END]!; at < rows[row + EVENT_END]!; at++) events.push(eventAt(batch.events, at));
  const ledgerOffset = orNull(rows[row + LEDGER_OFFSET]!);
  const content = { ...header, updateId, recordTime, offset: ledgerOffset, ignored, events, eventLogs: [], ...part };
  return { lane, offset, resumeToken, start, end, content };
}

function orNull(number: number): number | null {
  return Number.isNaN(number) ? null : number;
}

/** The message's bytes as the batch holds them: only the start of an over-long one. */
export function bytesOf({ raw }: DecodedBatch, { start, end }: DecodedMessage): Uint8Array {
  return raw.subarray(start, end);
}

/** The length of the whole message, also of one that is kept in part; null for a null value, which has no bytes. */
export function lengthOf({ start, end, content }: DecodedMessage): number | null {
  if (content.kind === 'ignored' && start === end) return null;
  return content.kind === 'bad' && content.overlong !== null ? content.overlong.length : end - start;
}

/** The SHA-256 of the whole message, also of one that is kept in part. */
export function sha256Of(batch: DecodedBatch, message: DecodedMessage): Buffer {
  const { content } = message;
  if (content.kind === 'bad' && content.overlong !== null) return Buffer.from(content.overlong.sha256, 'hex');
  return createHash('sha256').update(bytesOf(batch, message)).digest();
}

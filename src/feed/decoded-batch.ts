import { createHash } from 'node:crypto';
import { tryDecode } from '../decode/decode-message.ts';
import { identify } from '../decode/identify.ts';
import { BadUpdate, type Fault } from '../ledger/bad-update.ts';
import { expiryOf } from '../ledger/coin.ts';
import { archivedLine, createdLine, ITEM_BYTES, itemOf } from '../ledger/digest.ts';
import { contractIdHash } from '../ledger/ledger-ids.ts';
import { type CoinEntity, type Entity, TEMPLATES } from '../ledger/templates.ts';
import { parseLedgerTime } from '../ledger/time.ts';
import {
  type Checkpoint,
  type Coin,
  type Decoded,
  type EventLog,
  type HoldingCreate,
  IGNORED_EVENTS,
  type Ignored,
  type ImportMarker,
  type LedgerEvent,
  type LedgerUpdate,
  type OpenRound,
  type OtherArchive,
} from '../ledger/update.ts';
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
  /** The digest items of the batch's coins and archives (docs/digest.md), ITEM_BYTES each. */
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

/** The events of a batch's updates: coins and archives as rows of numbers with their texts and values, the few others as objects. */
interface EventColumns {
  readonly rows: Float64Array;
  /** Of an archive the contract id; of a coin the contract id, its owner and `extra`. */
  readonly texts: readonly (string | null)[];
  /** Of a coin its amount, rate, round and expiry. */
  readonly values: readonly (bigint | number)[];
  readonly origins: readonly CoinOrigin[];
  readonly others: readonly (NewRound | UncountedCreate)[];
}

/** The columns of an event's row. The next four number entries of their lists, TEXT of `others` where KIND is 0. */
const [KIND, TEXT, VALUE, ORIGIN, ITEM, ID_HASH, CREATED_AT, NODE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const EVENT_COLUMNS = NODE + 1;
/** The entity of a coin or an archive. Its kind is COIN or ARCHIVE plus the index of its entity. */
const ENTITY_OF: readonly (Entity | null)[] = [...(Object.keys(TEMPLATES) as Entity[]), null];
const [OTHER, COIN, ARCHIVE] = [0, 1, 1 + ENTITY_OF.length] as const;

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

export type ContractEvent = NewCoin | NewRound | UncountedCreate | ArchivedContract;

interface OfContract {
  readonly contractId: string;
  /** The 53-bit hash of migration and contract id. */
  readonly idHash: number;
}

/** The create of a coin that its DSO signed. */
export interface NewCoin extends OfContract, Omit<Coin, 'entity' | 'templateId' | 'packageName'> {
  readonly kind: CoinEntity;
  /** One object for all coins of a batch that have the same, which a structured clone keeps as one. */
  readonly origin: CoinOrigin;
  /** The first round in which its fee reaches its amount; Infinity: never. */
  readonly expiry: number | bigint;
  /** The number of its digest item in the batch. */
  readonly item: number;
}

export interface CoinOrigin {
  readonly dso: string;
  readonly templateId: string;
  readonly packageName: string;
}

/** The create of a round that its DSO signed. */
export interface NewRound extends OfContract {
  readonly kind: 'OpenMiningRound';
  readonly dso: string;
  readonly round: OpenRound;
}

/** The create of a coin or round that does not count whichever DSO counts. */
export interface UncountedCreate extends OfContract {
  readonly kind: 'uncounted';
  readonly entity: Entity;
  readonly dso: string;
  /** What is wrong with it, which matters only if its DSO is the one that counts; null where that did not sign it. */
  readonly fault: Fault | null;
}

export interface ArchivedContract extends OfContract {
  readonly kind: 'archive';
  /** Null where the feed gives only the id. */
  readonly entity: Entity | null;
  readonly item: number;
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

/** The number of a value in a list, where it is added if new. */
function numberIn<Value>(list: Value[], value: Value, isIt: (known: Value) => boolean): number {
  const number = list.findIndex(isIt);
  return number === -1 ? list.push(value) - 1 : number;
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
  for (const event of events) {
    if ('ignoredAs' in event) rows[row + IGNORED + IGNORED_EVENTS.indexOf(event.ignoredAs)]! += 1;
    else batch.events.add(event, migrationId);
  }
  if (seed !== undefined || eventLogs !== undefined)
    rows[row + PART] = parts.push({ ...(seed && { seed }), ...(eventLogs && { eventLogs }) }) - 1;
}

class EventList {
  readonly numbers: number[] = [];
  readonly texts: (string | null)[] = [];
  readonly values: (bigint | number)[] = [];
  readonly origins: CoinOrigin[] = [];
  readonly others: (NewRound | UncountedCreate)[] = [];
  /** A character for each byte. */
  readonly items: string[] = [];

  add(event: Exclude<LedgerEvent, HoldingCreate | OtherArchive>, migrationId: number): void {
    const { contractId } = event;
    const idHash = contractIdHash(contractId, migrationId);
    if (event.kind === 'archive') {
      const kind = ARCHIVE + ENTITY_OF.indexOf(event.entity);
      const item = this.items.push(itemOf(archivedLine(contractId))) - 1;
      this.numbers.push(kind, this.texts.push(contractId) - 1, 0, 0, item, idHash, 0, 0);
      return;
    }
    const { kind: entity, dso, signatories, body } = event;
    if (signatories instanceof BadUpdate || body instanceof BadUpdate || !signatories.includes(dso)) {
      const bad =
        signatories instanceof BadUpdate ? signatories : signatories.includes(dso) ? (body as BadUpdate) : null;
      this.#addOther({ kind: 'uncounted', entity, dso, contractId, idHash, fault: bad?.fault ?? null });
    } else if ('owner' in body) this.#addCoin(body, { dso, contractId, idHash });
    else this.#addOther({ kind: 'OpenMiningRound', dso, contractId, idHash, round: body });
  }

  #addOther(event: NewRound | UncountedCreate): void {
    this.numbers.push(OTHER, this.others.push(event) - 1, 0, 0, 0, 0, 0, 0);
  }

  #addCoin(coin: Coin, { dso, contractId, idHash }: OfContract & { readonly dso: string }): void {
    const { entity, owner, amount, rate, round, createdAt, node, extra, templateId, packageName } = coin;
    const origin = numberIn(
      this.origins,
      { dso, templateId, packageName },
      (known) => known.dso === dso && known.templateId === templateId && known.packageName === packageName,
    );
    const kind = COIN + ENTITY_OF.indexOf(entity);
    const text = this.texts.push(contractId, owner, extra) - 3;
    const value = this.values.push(amount, rate, round, expiryOf({ amount, rate, createdRound: round })) - 4;
    const item = this.items.push(itemOf(createdLine(coin, contractId))) - 1;
    this.numbers.push(kind, text, value, origin, item, idHash, createdAt, node);
  }
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

function eventAt({ rows, texts, values, origins, others }: EventColumns, index: number): ContractEvent {
  const row = index * EVENT_COLUMNS;
  const [kind, text, value] = [rows[row + KIND]!, rows[row + TEXT]!, rows[row + VALUE]!];
  if (kind === OTHER) return others[text]!;
  const [contractId, idHash, item] = [texts[text]!, rows[row + ID_HASH]!, rows[row + ITEM]!];
  if (kind >= ARCHIVE) return { kind: 'archive', entity: ENTITY_OF[kind - ARCHIVE]!, contractId, idHash, item };
  return {
    kind: ENTITY_OF[kind - COIN] as CoinEntity,
    contractId,
    idHash,
    origin: origins[rows[row + ORIGIN]!]!,
    owner: texts[text + 1]!,
    amount: values[value] as bigint,
    rate: values[value + 1] as bigint,
    round: values[value + 2] as bigint,
    createdAt: rows[row + CREATED_AT]!,
    node: rows[row + NODE]!,
    extra: texts[text + 2]!,
    expiry: values[value + 3]!,
    item,
  };
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

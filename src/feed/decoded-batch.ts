import { createHash } from 'node:crypto';
import { tryDecode } from '../decode/decode-message.ts';
import { identify } from '../decode/identify.ts';
import { BadUpdate, type Fault } from '../ledger/bad-update.ts';
import { expiryOf } from '../ledger/coin.ts';
import { contractIdHash } from '../ledger/contract-id.ts';
import { archivedLine, createdLine, ITEM_BYTES, itemOf } from '../ledger/digest.ts';
import type { CoinEntity, Entity } from '../ledger/templates.ts';
import { parseLedgerTime } from '../ledger/time.ts';
import type { Checkpoint, Coin, Ignored, LedgerEvent, LedgerUpdate, OpenRound, SeedMark } from '../ledger/update.ts';
import { LINE_BYTES_MAX } from './limits.ts';
import type { Message } from './source.ts';

/** A batch of consecutive messages as the decode threads hand it to the writer: plain objects, for a structured clone. */
export interface DecodedBatch {
  readonly messages: readonly DecodedMessage[];
  /** The messages' own bytes, one after the other, for hashes and dead letters. */
  readonly raw: Uint8Array;
  /** The digest items of the batch's coins and archives (docs/digest.md), ITEM_BYTES each. */
  readonly items: Uint8Array;
}

export interface DecodedMessage {
  readonly lane: string;
  /** Its number in its lane. */
  readonly offset: number;
  /** The lane's resume token after it, where that is not the next number; see cursorAfter. */
  readonly cursor?: string;
  /** Where its bytes are in the batch's `raw`. */
  readonly start: number;
  readonly end: number;
  readonly content: UpdateContent | Checkpoint | SeedMark | Ignored | Undecodable;
}

export interface UpdateContent extends Omit<LedgerUpdate, 'events' | 'ignored'> {
  readonly events: readonly ContractEvent[];
  /** How many of its events were ignored, by the reason; absent for none. */
  readonly ignored?: Readonly<Record<string, number>>;
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
  readonly origin: CoinOrigin;
  /** The first round in which its fee reaches its amount; Infinity: never. */
  readonly expiry: number | bigint;
  /** The number of its digest item in the batch. */
  readonly item: number;
}

/** What many coins have in common: one object for all of a batch, which a structured clone keeps as one. */
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
  const collected = new ItemBuffer();
  const length = messages.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  const target = length <= raw.length ? raw : Buffer.allocUnsafeSlow(length);
  let end = 0;
  const decoded = messages.map((message): DecodedMessage => {
    const { lane, offset, bytes, cursor } = message;
    const start = end;
    end += bytes?.length ?? 0;
    // Bytes that came in this buffer are in their place already.
    if (bytes !== null && (bytes.buffer !== target.buffer || bytes.byteOffset !== target.byteOffset + start))
      target.set(bytes, start);
    const content = contentOf(message, migrationId, collected);
    return cursor === undefined ? { lane, offset, start, end, content } : { lane, offset, cursor, start, end, content };
  });
  return { messages: decoded, raw: target.subarray(0, end), items: collected.cut() };
}

function contentOf(message: Message, migrationId: number, items: ItemBuffer): DecodedMessage['content'] {
  const { bytes, overlong = null } = message;
  if (bytes === null) return { kind: 'ignored', what: 'null value' };
  if (overlong !== null) {
    const expected = `a message of at most ${LINE_BYTES_MAX} bytes`;
    const { fault } = new BadUpdate('overlong', 'message', `${overlong.length} bytes`, expected);
    return { kind: 'bad', fault, updateId: null, recordTime: null, migrationId: null, overlong };
  }
  const decoded = message.decoded ?? tryDecode(bytes, { migrationId });
  if (decoded instanceof BadUpdate) {
    const { recordTime, ...identity } = identify(bytes);
    const time = recordTime === null ? null : parseLedgerTime(recordTime);
    return { kind: 'bad', fault: decoded.fault, ...identity, recordTime: time, overlong };
  }
  if (decoded.kind !== 'update') return decoded;
  const { events, ignored, ...update } = decoded;
  const handed = events.map((event) => eventOf(event, update.migrationId, items));
  return ignored.length === 0
    ? { ...update, events: handed }
    : { ...update, events: handed, ignored: counted(ignored) };
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function eventOf(event: LedgerEvent, migrationId: number, items: ItemBuffer): ContractEvent {
  const { contractId } = event;
  const idHash = contractIdHash(contractId, migrationId);
  if (event.kind === 'archive') {
    const item = items.add(archivedLine(contractId));
    return { kind: 'archive', entity: event.entity, contractId, idHash, item };
  }
  const { kind: entity, dso, signatories, body } = event;
  if (signatories instanceof BadUpdate)
    return { kind: 'uncounted', entity, dso, contractId, idHash, fault: signatories.fault };
  if (!signatories.includes(dso)) return { kind: 'uncounted', entity, dso, contractId, idHash, fault: null };
  if (body instanceof BadUpdate) return { kind: 'uncounted', entity, dso, contractId, idHash, fault: body.fault };
  if (!('owner' in body)) return { kind: 'OpenMiningRound', dso, contractId, idHash, round: body };
  const { owner, amount, rate, round, createdAt, node, extra, templateId, packageName } = body;
  return {
    kind: body.entity,
    contractId,
    idHash,
    origin: items.originOf(dso, templateId, packageName),
    owner,
    amount,
    rate,
    round,
    createdAt,
    node,
    extra,
    expiry: expiryOf({ amount, rate, createdRound: round }),
    item: items.add(createdLine(body, contractId)),
  };
}

const ITEMS_MIN = 256;

/** What a batch's events have beside them. */
class ItemBuffer {
  #bytes = Buffer.allocUnsafeSlow(ITEMS_MIN * ITEM_BYTES);
  #length = 0;
  readonly #origins: CoinOrigin[] = [];

  /** Adds the digest item of a line and returns its number. */
  add(line: string): number {
    if (this.#length === this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#length)]);
    this.#bytes.write(itemOf(line), this.#length, ITEM_BYTES, 'latin1');
    this.#length += ITEM_BYTES;
    return this.#length / ITEM_BYTES - 1;
  }

  originOf(dso: string, templateId: string, packageName: string): CoinOrigin {
    for (const known of this.#origins)
      if (known.dso === dso && known.templateId === templateId && known.packageName === packageName) return known;
    const origin = { dso, templateId, packageName };
    // A feed has a few; among many, comparing would cost more than to send one more.
    if (this.#origins.length < 8) this.#origins.push(origin);
    return origin;
  }

  cut(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }
}

/** The lane's resume token after a message. */
export function cursorAfter({ offset, cursor }: Pick<DecodedMessage, 'offset' | 'cursor'>): string {
  return cursor ?? String(offset + 1);
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

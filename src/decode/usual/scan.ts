import type { ChunkWriter, Place } from '../../chunk/chunk-writer.ts';
import type { Span } from '../../chunk/id-bytes.ts';
import type { Names } from '../../chunk/names.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import { lockedExtra } from '../../ledger/coin.ts';
import { safeExpiryOf } from '../../ledger/holding-fee.ts';
import { isPartyId } from '../../ledger/party.ts';
import type { Entity, LedgerEvent } from '../../ledger/update.ts';
import type { IgnoredEvent } from '../ignored.ts';
import { readScanCreate } from '../scan.ts';
import { readEntity } from '../template.ts';
import { CONTRACT_ID_CHARS_MAX, NODE_MAX, type Wire } from '../values.ts';
import { AMOUNT, DSO, LOCK_VALUE, OWNER, RATE, ROUND } from './coin-spans.ts';
import { CONTRACT_ID, CREATED_AT, EVENT_ID, FORM, PACKAGE_NAME, TEMPLATE_ID, WHOLE } from './event-spans.ts';
import { bytesOf, standsAt } from './json-bytes.ts';
import { KnownTexts } from './known-texts.ts';
import { readUnits, readWhole, TimeReader } from './numbers.ts';
import { MIGRATION_ID, RECORD_TIME, ScanSpans, SYNCHRONIZER_ID, UPDATE_ID } from './scan-spans.ts';

const OUR_PACKAGE = 'splice-amulet';
const OUR_PACKAGE_BYTES = bytesOf(OUR_PACKAGE);
const COLON = 0x3a;

const FORM_OF = { Amulet: FORM.amulet, LockedAmulet: FORM.locked } as const;

/** A template of ours in our package; its number in the names. */
interface Template {
  readonly entity: Entity;
  readonly number: number;
}
const OTHER_TEMPLATE = 0;

/**
 * Reads the usual Scan transaction straight from its bytes into a chunk's columns: no object, no text, no bigint that nobody
 * needs. It says the same as the general way (`decodeMessage`, then `ChunkWriter.add`) or says that it does not read the
 * message; a test holds the two against each other. So it judges nothing: whatever is bad is left to the general way.
 */
export class UsualScan {
  readonly #spans = new ScanSpans();
  readonly #names: Names;
  readonly #parties: KnownTexts;
  readonly #synchronizers: KnownTexts;
  /** Gives OTHER_TEMPLATE, or a key of `#ours`. */
  readonly #templates: KnownTexts;
  readonly #ours = new Map<number, Template>();
  readonly #recordTimes = new TimeReader();
  readonly #creationTimes = new TimeReader();

  /** The chunks that it adds to have these names. */
  constructor(names: Names) {
    this.#names = names;
    this.#parties = new KnownTexts(32_768, (text) => (isPartyId(text) ? names.indexOf(text) : -1));
    this.#synchronizers = new KnownTexts(64, (text) => names.indexOf(text));
    this.#templates = new KnownTexts(256, (text) => this.#readTemplate(text));
  }

  /** False where the message was not read; the chunk is then as it was. */
  add(chunk: ChunkWriter, bytes: Uint8Array, place: Place): boolean {
    const b = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const spans = this.#spans;
    if (!spans.read(b)) return false;
    const migrationId = readWhole(b, spans.start(MIGRATION_ID), spans.end(MIGRATION_ID));
    const recordTime = this.#recordTimes.read(b, spans.start(RECORD_TIME), spans.end(RECORD_TIME));
    if (migrationId < 0 || recordTime < 0) return false;
    const { mark } = chunk;
    for (let i = 0; i < spans.events.size; i++) {
      if (this.#addEvent(chunk, b, spans.order[i]!, migrationId)) continue;
      chunk.undo(mark);
      return false;
    }
    const [start, end] = [spans.start(SYNCHRONIZER_ID), spans.end(SYNCHRONIZER_ID)];
    const synchronizer = this.#synchronizers.of(b, start, end);
    const updateId = { bytes: b, start: spans.start(UPDATE_ID), end: spans.end(UPDATE_ID) };
    chunk.addUsualUpdate({ migrationId, synchronizer, recordTime, isScan: true }, updateId, place);
    return true;
  }

  #addEvent(chunk: ChunkWriter, b: Buffer, event: number, migrationId: number): boolean {
    const spans = this.#spans.events;
    const isCreate = spans.isCreate(event);
    if (!isCreate) {
      const isConsuming = spans.isConsuming(event);
      if (isConsuming === null) return false;
      if (!isConsuming) {
        chunk.addIgnoredEvent('not consuming');
        return true;
      }
    }
    const known = this.#templates.of(b, spans.start(event, TEMPLATE_ID), spans.end(event, TEMPLATE_ID));
    if (known < 0) return false;
    const template = this.#ours.get(known) ?? null;
    if (template === null || !isOurPackage(b, spans.start(event, PACKAGE_NAME), spans.end(event, PACKAGE_NAME))) {
      chunk.addIgnoredEvent(template === null ? 'other template' : 'other package');
      return true;
    }
    const contractId = { bytes: b, start: spans.start(event, CONTRACT_ID), end: spans.end(event, CONTRACT_ID) };
    if (contractId.end - contractId.start > CONTRACT_ID_CHARS_MAX) return false;
    if (isCreate) {
      const isAdded = this.#addCoin(chunk, b, event, { template, contractId, migrationId });
      return isAdded || this.#addOtherCreate(chunk, b, event, migrationId);
    }
    chunk.addUsualArchive(template.entity, contractId, migrationId);
    return true;
  }

  /** A canonical coin, locked or not, which is nearly all of them. */
  #addCoin(
    chunk: ChunkWriter,
    b: Buffer,
    event: number,
    { template, contractId, migrationId }: { template: Template; contractId: Span; migrationId: number },
  ): boolean {
    const spans = this.#spans.events;
    const { entity } = template;
    if (entity === 'OpenMiningRound') return false;
    if (spans.form(event) !== FORM_OF[entity] || !spans.hasUsualStakeholders(event)) return false;
    const dso = this.#parties.of(b, spans.coinStart(event, DSO), spans.coinEnd(event, DSO));
    const owner = this.#parties.of(b, spans.coinStart(event, OWNER), spans.coinEnd(event, OWNER));
    const amount = readUnits(b, spans.coinStart(event, AMOUNT), spans.coinEnd(event, AMOUNT));
    const rate = readUnits(b, spans.coinStart(event, RATE), spans.coinEnd(event, RATE));
    const round = readWhole(b, spans.coinStart(event, ROUND), spans.coinEnd(event, ROUND));
    if (dso < 0 || owner < 0 || dso === owner || amount <= 0 || rate < 0 || round < 0) return false;
    const rateRound = rate * round;
    const expiry = safeExpiryOf(amount, rate, round);
    const createdAt = this.#creationTimes.read(b, spans.start(event, CREATED_AT), spans.end(event, CREATED_AT));
    const node = readNode(b, spans.start(event, EVENT_ID), spans.end(event, EVENT_ID));
    if (rateRound > Number.MAX_SAFE_INTEGER || expiry === null || createdAt < 0 || node < 0) return false;
    const extra = entity === 'Amulet' ? null : this.#readLock(b, event, dso, owner);
    if (extra === null && entity !== 'Amulet') return false;
    const row = {
      entity,
      dso,
      owner,
      template: template.number,
      extra: chunk.addExtra(extra),
      amount: BigInt(amount),
      rate: BigInt(rate),
      rateRound: BigInt(rateRound),
      round,
      expiry,
      createdAt,
      node,
    };
    chunk.addUsualCoin(row, contractId, migrationId);
    return true;
  }

  #readLock(b: Buffer, event: number, dso: number, owner: number): string | null {
    const text = b.toString(
      'latin1',
      this.#spans.events.coinStart(event, LOCK_VALUE),
      this.#spans.events.coinEnd(event, LOCK_VALUE),
    );
    const { list } = this.#names;
    return lockedExtra(JSON.parse(text), { dso: list[dso]!, owner: list[owner]! });
  }

  #readTemplate(templateId: string): number {
    try {
      const fields = { templateId: 'template_id', packageName: 'package_name' };
      const entity = readEntity({ templateId, packageName: OUR_PACKAGE }, fields);
      if (entity === 'other template' || entity === 'other package') return OTHER_TEMPLATE;
      const number = this.#names.indexOf(`${templateId}\n${OUR_PACKAGE}`);
      // The same text may be read again and again, where others take its slot.
      this.#ours.set(number + 1, { entity, number });
      return number + 1;
    } catch {
      return -1;
    }
  }

  /** A round, an unusual coin: this one event in the general way. */
  #addOtherCreate(chunk: ChunkWriter, b: Buffer, event: number, migrationId: number): boolean {
    const text = b.toString('latin1', this.#spans.events.start(event, WHOLE), this.#spans.events.end(event, WHOLE));
    const read = readGood(JSON.parse(text) as Wire);
    if (read === null) return false;
    if (typeof read === 'string') chunk.addIgnoredEvent(read);
    else chunk.addEvent(read, migrationId);
    return true;
  }
}

/** Null for a create that is bad in any way: the general way meets the same, and says where. */
function readGood(event: Wire): LedgerEvent | IgnoredEvent | null {
  try {
    const read = readScanCreate(event, () => '');
    const isBad =
      typeof read !== 'string' &&
      'body' in read &&
      (read.body instanceof BadUpdate || read.signatories instanceof BadUpdate);
    return isBad ? null : read;
  } catch {
    return null;
  }
}

function isOurPackage(b: Uint8Array, start: number, end: number): boolean {
  return end - start === OUR_PACKAGE_BYTES.length && standsAt(b, start, OUR_PACKAGE_BYTES);
}

/** The digits behind the last colon of an event id. */
function readNode(b: Uint8Array, start: number, end: number): number {
  let digits = end;
  while (digits > start && b[digits - 1] !== COLON) digits--;
  if (digits === start) return -1;
  const node = readWhole(b, digits, end);
  return node <= NODE_MAX ? node : -1;
}

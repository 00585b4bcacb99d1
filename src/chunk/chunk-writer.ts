import { BadUpdate } from '../ledger/bad-update.ts';
import { archivedLine, createdLine } from '../ledger/digest.ts';
import { expiryOf } from '../ledger/expiry.ts';
import type { Coin, Decoded, LedgerEvent, LedgerUpdate } from '../ledger/update.ts';
import { type Chunk, EVENT, type RareEvent, type RareUpdate, type Undecodable, UPDATE } from './chunk.ts';
import { clearColumns, cutColumns, grownColumns, newEventColumns, newUpdateColumns } from './columns.ts';
import { grown, IdBytes } from './id-bytes.ts';
import { Items } from './items.ts';
import { type Names, Repeated } from './names.ts';
import { fitsColumns, portable, portableFault } from './portable.ts';

const ROWS_MIN = 1024;

const ARCHIVE_KIND = {
  Amulet: EVENT.archiveAmulet,
  LockedAmulet: EVENT.archiveLocked,
  OpenMiningRound: EVENT.archiveRound,
};

/** Where a message came from; see `feed/source.ts`. */
export interface MessagePlace {
  readonly lane: string;
  readonly offset: number;
  readonly cursor?: string;
}

/** Collects decoded messages into columns, one chunk after the other; its buffers are used again. */
export class ChunkWriter {
  readonly #ids = new IdBytes();
  readonly #items = new Items();
  #raw: Buffer = Buffer.alloc(0);
  #rawLength = 0;
  #updates = 0;
  #events = 0;
  #u = newUpdateColumns(ROWS_MIN);
  #e = newEventColumns(ROWS_MIN);
  #ignoredEvents: number[] = [];
  #extras: string[] = [];
  readonly #names: Names;
  readonly #dso: Repeated;
  readonly #synchronizer: Repeated;
  readonly #template: Repeated;
  readonly #ignored: Repeated;
  readonly #lane: Repeated;
  #cursors = new Map<number, string>();
  #createdIn = new Map<number, string>();
  #rare = new Map<number, RareUpdate>();
  #rareEvents = new Map<number, RareEvent>();

  constructor(names: Names) {
    this.#names = names;
    this.#dso = new Repeated(names);
    this.#synchronizer = new Repeated(names);
    this.#template = new Repeated(names);
    this.#ignored = new Repeated(names);
    this.#lane = new Repeated(names);
  }

  /** Begins a chunk. `raw` becomes the chunk's, and is replaced by a larger one where the messages do not fit. */
  begin(raw: Buffer): void {
    clearColumns(this.#u, this.#updates);
    clearColumns(this.#e, this.#events);
    this.#raw = raw;
    this.#rawLength = 0;
    this.#updates = 0;
    this.#events = 0;
    this.#ids.length = 0;
    this.#items.clear();
    this.#ignoredEvents = [];
    this.#extras = [];
    this.#cursors = new Map();
    this.#createdIn = new Map();
    this.#rare = new Map();
    this.#rareEvents = new Map();
  }

  add(decoded: Decoded, bytes: Uint8Array | null, place: MessagePlace): void {
    switch (decoded.kind) {
      case 'update':
        return this.#addUpdate(decoded, bytes, place);
      case 'ignored': {
        this.#u.migrationId[this.#updates] = -1;
        return this.#addRow(UPDATE.ignored, this.#names.indexOf(decoded.what), bytes, place);
      }
      case 'checkpoint':
      case 'seed mark':
        return this.#addRare(decoded, bytes, place);
    }
  }

  addBad(
    fault: BadUpdate,
    identity: Omit<Undecodable, 'kind' | 'fault'>,
    bytes: Uint8Array,
    place: MessagePlace,
  ): void {
    this.#addRare({ kind: 'bad', fault: portableFault(fault), ...identity }, bytes, place);
  }

  #addRare(rare: RareUpdate, bytes: Uint8Array | null, place: MessagePlace): void {
    this.#rare.set(this.#updates, rare);
    this.#u.migrationId[this.#updates] = -1;
    this.#addRow(UPDATE.rare, 0, bytes, place);
  }

  #addUpdate(update: LedgerUpdate, bytes: Uint8Array | null, place: MessagePlace): void {
    for (const event of update.events) this.#addEvent(event, update.migrationId);
    for (const what of update.ignored) this.#ignoredEvents.push(this.#ignored.of(what));
    const [u, n] = [this.#u, this.#updates];
    u.migrationId[n] = update.migrationId;
    u.recordTime[n] = update.recordTime ?? 0;
    u.idStart[n] = this.#ids.length;
    u.idPacked[n] = this.#ids.add(update.updateId);
    u.idLength[n] = this.#ids.length - u.idStart[n]!;
    const createdIn = update.seed?.createdIn ?? null;
    if (createdIn !== null) this.#createdIn.set(n, createdIn);
    u.isScan[n] = update.format === 'scan' ? 1 : 0;
    u.ledgerOffset[n] = update.offset ?? -1;
    const kind = update.recordTime !== null ? UPDATE.update : update.seed !== undefined ? UPDATE.seed : UPDATE.import;
    this.#addRow(kind, this.#synchronizer.of(update.synchronizerId), bytes, place);
  }

  /** Fills the columns that every message has, and ends its row. */
  #addRow(kind: number, name: number, bytes: Uint8Array | null, place: MessagePlace): void {
    if (bytes !== null) this.#addRaw(bytes);
    const [u, n] = [this.#u, this.#updates];
    u.kind[n] = kind;
    u.name[n] = name;
    u.eventsEnd[n] = this.#events;
    u.ignoredEnd[n] = this.#ignoredEvents.length;
    u.rawEnd[n] = this.#rawLength;
    u.lane[n] = this.#lane.of(place.lane);
    if (place.cursor !== undefined) this.#cursors.set(n, place.cursor);
    u.offset[n] = place.offset;
    this.#updates += 1;
    if (this.#updates === u.kind.length) this.#u = grownColumns(u);
  }

  #addEvent(event: LedgerEvent, migrationId: number): void {
    this.#addEventId(event.contractId, migrationId);
    this.#addItem(event);
    if (event.kind === 'archive')
      return this.#endEvent(event.entity === null ? EVENT.archiveAny : ARCHIVE_KIND[event.entity]);
    if (event.kind !== 'OpenMiningRound' && fitsColumns(event)) {
      const { body: coin, dso } = event;
      const expiry = expiryOf({ amount: coin.amount, rate: coin.rate, createdRound: coin.round });
      if (typeof expiry === 'number') return this.#addCoin(coin, dso, expiry);
    }
    this.#rareEvents.set(this.#events, portable(event));
    this.#endEvent(EVENT.rare);
  }

  #addEventId(contractId: string, migrationId: number): void {
    const [e, n, start] = [this.#e, this.#events, this.#ids.length];
    e.idStart[n] = start;
    e.idPacked[n] = this.#ids.add(contractId);
    e.idLength[n] = this.#ids.length - start;
    e.idHash[n] = this.#ids.hashFrom(start, migrationId);
  }

  #addItem(event: LedgerEvent): void {
    const { kind, contractId } = event;
    if (kind === 'archive') this.#items.addLine(archivedLine(contractId));
    else if (kind === 'OpenMiningRound' || event.body instanceof BadUpdate) this.#items.addNone();
    else this.#items.addLine(createdLine(event.body, contractId));
  }

  /** Adds a coin whose numbers fit the columns. */
  #addCoin(coin: Coin, dso: string, expiry: number): void {
    const [e, n] = [this.#e, this.#events];
    e.dso[n] = this.#dso.of(dso);
    e.owner[n] = this.#names.indexOf(coin.owner);
    e.template[n] = this.#template.of(coin.templateId, coin.packageName);
    e.extra[n] = coin.extra === null ? 0 : this.#extras.push(coin.extra);
    e.amount[n] = coin.amount;
    e.rate[n] = coin.rate;
    e.rateRound[n] = coin.rate * coin.round;
    e.round[n] = Number(coin.round);
    e.expiry[n] = expiry;
    e.createdAt[n] = coin.createdAt;
    e.node[n] = coin.node;
    this.#endEvent(coin.entity === 'Amulet' ? EVENT.amulet : EVENT.locked);
  }

  #endEvent(kind: number): void {
    this.#e.kind[this.#events] = kind;
    this.#events += 1;
    if (this.#events === this.#e.kind.length) this.#e = grownColumns(this.#e);
  }

  #addRaw(bytes: Uint8Array): void {
    // Bytes that came in this buffer need no copy.
    if (bytes.buffer === this.#raw.buffer && bytes.byteOffset === this.#raw.byteOffset + this.#rawLength) {
      this.#rawLength += bytes.length;
      return;
    }
    if (this.#rawLength + bytes.length > this.#raw.length) this.#raw = grown(this.#raw, this.#rawLength + bytes.length);
    this.#raw.set(bytes, this.#rawLength);
    this.#rawLength += bytes.length;
  }

  /** What was collected since `begin`. */
  finish(): Chunk {
    return {
      updates: cutColumns(this.#u, this.#updates),
      events: cutColumns(this.#e, this.#events),
      ignoredEvents: Uint32Array.from(this.#ignoredEvents),
      names: this.#names.list,
      extras: this.#extras,
      ids: this.#ids.cut(),
      items: this.#items.cut(),
      raw: this.#raw.subarray(0, this.#rawLength),
      cursors: this.#cursors,
      createdIn: this.#createdIn,
      rare: this.#rare,
      rareEvents: this.#rareEvents,
    };
  }
}

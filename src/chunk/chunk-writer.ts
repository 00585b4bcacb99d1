import type { BadUpdate } from '../ledger/bad-update.ts';
import { expiryOf } from '../ledger/holding-fee.ts';
import type { Coin, CoinEntity, Decoded, Entity, LedgerEvent } from '../ledger/update.ts';
import { type Chunk, EVENT, type RareEvent, type RareUpdate, UPDATE } from './chunk.ts';
import { clearColumns, cutColumns, grownColumns, newEventColumns, newUpdateColumns } from './columns.ts';
import { grown, IdBytes, type Span } from './id-bytes.ts';
import { type Names, Repeated } from './names.ts';
import { fitsColumns, portable, portableFault } from './portable.ts';

const ROWS_MIN = 1024;

const ARCHIVE_KIND = {
  Amulet: EVENT.archiveAmulet,
  LockedAmulet: EVENT.archiveLocked,
  OpenMiningRound: EVENT.archiveRound,
};

/** Where a message came from; see `feed/source.ts`. */
export interface Place {
  readonly partition: number;
  readonly offset: number;
}

/** What a row of `updates` says beside its id; `recordTime` is null for an import, `synchronizer` a number of the names. */
interface UpdateRow {
  readonly migrationId: number;
  readonly synchronizer: number;
  readonly recordTime: number | null;
  readonly isScan: boolean;
}

/** A coin create whose numbers fit the columns; `rateRound` is a product. Parties and templates are numbers of the names. */
export interface CoinRow {
  readonly entity: CoinEntity;
  readonly dso: number;
  readonly owner: number;
  readonly template: number;
  /** As `addExtra` gave it. */
  readonly extra: number;
  readonly amount: bigint;
  readonly rate: bigint;
  readonly rateRound: bigint;
  readonly round: number;
  readonly expiry: number;
  readonly createdAt: number;
  readonly node: number;
}

/** Collects decoded messages into columns, one chunk after the other; what it collects them in is used again. */
export class ChunkWriter {
  readonly #ids = new IdBytes();
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
  #rare = new Map<number, RareUpdate>();
  #rareEvents = new Map<number, RareEvent>();

  constructor(names: Names) {
    this.#names = names;
    this.#dso = new Repeated(names);
    this.#synchronizer = new Repeated(names);
    this.#template = new Repeated(names);
    this.#ignored = new Repeated(names);
  }

  /** Begins a chunk. `raw` becomes the chunk's, and is replaced by a larger one where the messages do not fit. */
  begin(raw: Buffer): this {
    clearColumns(this.#u, 0, this.#updates);
    clearColumns(this.#e, 0, this.#events);
    this.#raw = raw;
    this.#rawLength = 0;
    this.#updates = 0;
    this.#events = 0;
    this.#ids.length = 0;
    this.#ignoredEvents = [];
    this.#extras = [];
    this.#rare = new Map();
    this.#rareEvents = new Map();
    return this;
  }

  get updates(): number {
    return this.#updates;
  }

  get rawBytes(): number {
    return this.#rawLength;
  }

  add(decoded: Decoded, bytes: Uint8Array | null, place: Place): void {
    switch (decoded.kind) {
      case 'update': {
        for (const event of decoded.events) this.addEvent(event, decoded.migrationId);
        for (const what of decoded.ignored) this.addIgnoredEvent(what);
        const idStart = this.#ids.length;
        const packed = this.#ids.add(decoded.updateId);
        const synchronizer = this.#synchronizer.of(decoded.synchronizerId);
        const row = { ...decoded, synchronizer, isScan: decoded.format === 'scan' };
        return this.#addUpdate(row, { idStart, packed }, bytes, place);
      }
      case 'ignored': {
        this.#u.migrationId[this.#updates] = -1;
        return this.#addRow(UPDATE.ignored, this.#names.indexOf(decoded.what), bytes, place);
      }
      case 'checkpoint':
        return this.#addRare(decoded, bytes, place);
    }
  }

  addBad(
    fault: BadUpdate,
    identity: Omit<Extract<RareUpdate, { kind: 'bad' }>, 'kind' | 'fault'>,
    bytes: Uint8Array,
    place: Place,
  ): void {
    this.#addRare({ kind: 'bad', fault: portableFault(fault), ...identity }, bytes, place);
  }

  /** Adds the update that the events added last belong to. */
  addUsualUpdate(row: UpdateRow, updateId: Span, place: Place): void {
    const idStart = this.#ids.length;
    const packed = this.#ids.addSpan(updateId);
    this.#addUpdate(row, { idStart, packed }, updateId.bytes, place);
  }

  #addRare(rare: RareUpdate, bytes: Uint8Array | null, place: Place): void {
    this.#rare.set(this.#updates, rare);
    this.#u.migrationId[this.#updates] = -1;
    this.#addRow(UPDATE.rare, 0, bytes, place);
  }

  #addUpdate(row: UpdateRow, id: { idStart: number; packed: 0 | 1 }, bytes: Uint8Array | null, place: Place): void {
    const [u, n] = [this.#u, this.#updates];
    u.migrationId[n] = row.migrationId;
    u.recordTime[n] = row.recordTime ?? 0;
    u.idStart[n] = id.idStart;
    u.idLength[n] = this.#ids.length - id.idStart;
    u.idPacked[n] = id.packed;
    u.isScan[n] = row.isScan ? 1 : 0;
    const kind = row.recordTime === null ? UPDATE.import : UPDATE.update;
    this.#addRow(kind, row.synchronizer, bytes, place);
  }

  /** The columns that every message has, and the end of its row. */
  #addRow(kind: number, name: number, bytes: Uint8Array | null, place: Place): void {
    if (bytes !== null) this.#addRaw(bytes);
    const [u, n] = [this.#u, this.#updates];
    u.kind[n] = kind;
    u.name[n] = name;
    u.eventsEnd[n] = this.#events;
    u.ignoredEnd[n] = this.#ignoredEvents.length;
    u.rawEnd[n] = this.#rawLength;
    u.partition[n] = place.partition;
    u.offset[n] = place.offset;
    this.#updates += 1;
    if (this.#updates === u.kind.length) this.#u = grownColumns(u);
  }

  /** Where the events of the update that is being added begin: what `undo` goes back to. */
  get mark(): { readonly events: number; readonly ids: number; readonly ignored: number } {
    return { events: this.#events, ids: this.#ids.length, ignored: this.#ignoredEvents.length };
  }

  /** Takes back the events added since the mark. */
  undo({ events, ids, ignored }: ChunkWriter['mark']): void {
    for (let event = events; event < this.#events; event++) this.#rareEvents.delete(event);
    clearColumns(this.#e, events, this.#events);
    this.#events = events;
    this.#ids.length = ids;
    this.#ignoredEvents.length = ignored;
  }

  /** The number of an extra in a CoinRow. */
  addExtra(extra: string | null): number {
    return extra === null ? 0 : this.#extras.push(extra);
  }

  addIgnoredEvent(what: string): void {
    this.#ignoredEvents.push(this.#ignored.of(what));
  }

  addEvent(event: LedgerEvent, migrationId: number): void {
    const start = this.#ids.length;
    const packed = this.#ids.add(event.contractId);
    this.#addEventId(start, packed, migrationId);
    if (event.kind === 'archive')
      return this.#endEvent(event.entity === null ? EVENT.archiveAny : ARCHIVE_KIND[event.entity]);
    if (event.kind === 'coin' && fitsColumns(event)) {
      const { body: coin, dso } = event;
      const expiry = expiryOf({ amount: coin.amount, rate: coin.rate, createdRound: coin.round });
      if (typeof expiry === 'number') return this.#addCoin(this.#rowOf(coin, dso, expiry));
    }
    this.#rareEvents.set(this.#events, portable(event));
    this.#endEvent(EVENT.rare);
  }

  addUsualArchive(entity: Entity, contractId: Span, migrationId: number): void {
    const start = this.#ids.length;
    this.#addEventId(start, this.#ids.addSpan(contractId), migrationId);
    this.#endEvent(ARCHIVE_KIND[entity]);
  }

  addUsualCoin(coin: CoinRow, contractId: Span, migrationId: number): void {
    const start = this.#ids.length;
    this.#addEventId(start, this.#ids.addSpan(contractId), migrationId);
    this.#addCoin(coin);
  }

  #addEventId(start: number, packed: 0 | 1, migrationId: number): void {
    const [e, n] = [this.#e, this.#events];
    e.fold[n] = this.#ids.foldFrom(start, migrationId);
    e.idStart[n] = start;
    e.idLength[n] = this.#ids.length - start;
    e.idPacked[n] = packed;
  }

  #rowOf(coin: Coin, dso: string, expiry: number): CoinRow {
    return {
      ...coin,
      dso: this.#dso.of(dso),
      owner: this.#names.indexOf(coin.owner),
      template: this.#template.of(coin.templateId, coin.packageName),
      extra: this.addExtra(coin.extra),
      rateRound: coin.rate * coin.round,
      round: Number(coin.round),
      expiry,
    };
  }

  #addCoin(coin: CoinRow): void {
    const [e, n] = [this.#e, this.#events];
    e.dso[n] = coin.dso;
    e.owner[n] = coin.owner;
    e.template[n] = coin.template;
    e.extra[n] = coin.extra;
    e.amount[n] = coin.amount;
    e.rate[n] = coin.rate;
    e.rateRound[n] = coin.rateRound;
    e.round[n] = coin.round;
    e.expiry[n] = coin.expiry;
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
      raw: this.#raw.subarray(0, this.#rawLength),
      rare: this.#rare,
      rareEvents: this.#rareEvents,
    };
  }
}

import type { BadUpdate } from '../bad-update.ts';
import { expiryOf } from '../holding-fee.ts';
import type { Coin, Decoded, LedgerEvent, LedgerUpdate } from '../update.ts';
import { type Chunk, EVENT, type RareEvent, type RareUpdate, UPDATE } from './chunk.ts';
import { foldId, packHex } from './id.ts';
import { Names, Repeated } from './names.ts';
import { fitsColumns, portable, portableFault } from './portable.ts';

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

/** Collects decoded messages into columns. One writer makes one chunk. */
export class ChunkWriter {
  #ids: Buffer = Buffer.allocUnsafeSlow(64 * 1024);
  #idsLength = 0;
  #raw: Buffer;
  #rawLength = 0;
  readonly #names = new Names();
  readonly #dso = new Repeated(this.#names);
  readonly #synchronizer = new Repeated(this.#names);
  readonly #template = new Repeated(this.#names);
  readonly #rare = new Map<number, RareUpdate>();
  readonly #rareEvents = new Map<number, RareEvent>();
  readonly #u = {
    kind: [] as number[],
    migrationId: [] as number[],
    name: [] as number[],
    recordTime: [] as number[],
    idStart: [] as number[],
    idLength: [] as number[],
    idPacked: [] as number[],
    isScan: [] as number[],
    eventsEnd: [] as number[],
    ignoredEnd: [] as number[],
    ignoredEvents: [] as number[],
    rawEnd: [] as number[],
    partition: [] as number[],
    offset: [] as number[],
  };
  readonly #e = {
    kind: [] as number[],
    fold: [] as number[],
    idStart: [] as number[],
    idLength: [] as number[],
    idPacked: [] as number[],
    dso: [] as number[],
    owner: [] as number[],
    template: [] as number[],
    extra: [] as number[],
    amount: [] as bigint[],
    rate: [] as bigint[],
    rateRound: [] as bigint[],
    round: [] as number[],
    expiry: [] as number[],
    createdAt: [] as number[],
    node: [] as number[],
  };

  /** `raw` becomes the chunk's, and is replaced by a larger one where the messages do not fit. */
  constructor(raw: Buffer) {
    this.#raw = raw;
  }

  get updates(): number {
    return this.#u.kind.length;
  }

  get rawBytes(): number {
    return this.#rawLength;
  }

  add(decoded: Decoded, bytes: Uint8Array | null, place: Place): void {
    switch (decoded.kind) {
      case 'update':
        for (const event of decoded.events) this.#addEvent(event, decoded.migrationId);
        for (const what of decoded.ignored) this.#u.ignoredEvents.push(this.#names.indexOf(what));
        return this.#addUpdate(decoded, bytes, place);
      case 'ignored':
        return this.#addRow(
          UPDATE.ignored,
          { migrationId: -1, name: this.#names.indexOf(decoded.what), recordTime: 0 },
          bytes,
          place,
        );
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

  #addRare(rare: RareUpdate, bytes: Uint8Array | null, place: Place): void {
    this.#rare.set(this.updates, rare);
    this.#addRow(UPDATE.rare, { migrationId: -1, name: 0, recordTime: 0 }, bytes, place);
  }

  #addUpdate(update: LedgerUpdate, bytes: Uint8Array | null, place: Place): void {
    const { idStart, idLength, idPacked, isScan } = this.#u;
    const n = this.updates;
    const name = this.#synchronizer.of(update.synchronizerId);
    const recordTime = update.recordTime ?? 0;
    const kind = update.recordTime === null ? UPDATE.import : UPDATE.update;
    this.#addRow(kind, { migrationId: update.migrationId, name, recordTime }, bytes, place);
    idStart[n] = this.#idsLength;
    idPacked[n] = this.#addId(update.updateId);
    idLength[n] = this.#idsLength - idStart[n]!;
    isScan[n] = update.format === 'scan' ? 1 : 0;
  }

  #addRow(
    kind: number,
    row: { migrationId: number; name: number; recordTime: number },
    bytes: Uint8Array | null,
    place: Place,
  ): void {
    const u = this.#u;
    u.kind.push(kind);
    u.migrationId.push(row.migrationId);
    u.name.push(row.name);
    u.recordTime.push(row.recordTime);
    u.idStart.push(0);
    u.idLength.push(0);
    u.idPacked.push(0);
    u.isScan.push(0);
    u.eventsEnd.push(this.#e.kind.length);
    u.ignoredEnd.push(u.ignoredEvents.length);
    if (bytes !== null) this.#addRaw(bytes);
    u.rawEnd.push(this.#rawLength);
    u.partition.push(place.partition);
    u.offset.push(place.offset);
  }

  #addEvent(event: LedgerEvent, migrationId: number): void {
    const start = this.#idsLength;
    const packed = this.#addId(event.contractId);
    const e = this.#e;
    e.fold.push(foldId(this.#ids, start, this.#idsLength, migrationId));
    e.idStart.push(start);
    e.idLength.push(this.#idsLength - start);
    e.idPacked.push(packed);
    if (event.kind === 'archive') return this.#addColumns(ARCHIVE_KIND[event.entity]);
    if (event.kind === 'coin' && fitsColumns(event)) {
      const expiry = expiryOf({ amount: event.body.amount, rate: event.body.rate, createdRound: event.body.round });
      if (typeof expiry === 'number') return this.#addCoin(event.dso, event.body, expiry);
    }
    this.#rareEvents.set(e.kind.length, portable(event));
    this.#addColumns(EVENT.rare);
  }

  #addCoin(dso: string, coin: Coin, expiry: number): void {
    const e = this.#e;
    e.kind.push(coin.entity === 'Amulet' ? EVENT.amulet : EVENT.locked);
    e.dso.push(this.#dso.of(dso));
    e.owner.push(this.#names.indexOf(coin.owner));
    e.template.push(this.#template.of(coin.templateId, coin.packageName));
    e.extra.push(coin.extra === null ? 0 : this.#names.indexOf(coin.extra) + 1);
    e.amount.push(coin.amount);
    e.rate.push(coin.rate);
    e.rateRound.push(coin.rate * coin.round);
    e.round.push(Number(coin.round));
    e.expiry.push(expiry);
    e.createdAt.push(coin.createdAt);
    e.node.push(coin.node);
  }

  /** Columns of an event that is no coin create: only kind and id count. */
  #addColumns(kind: number): void {
    const e = this.#e;
    e.kind.push(kind);
    e.dso.push(0);
    e.owner.push(0);
    e.template.push(0);
    e.extra.push(0);
    e.amount.push(0n);
    e.rate.push(0n);
    e.rateRound.push(0n);
    e.round.push(0);
    e.expiry.push(0);
    e.createdAt.push(0);
    e.node.push(0);
  }

  #addId(id: string): 0 | 1 {
    // 255 characters of UTF-8 take at most 765 bytes, but an update id is not bounded by the feed's page.
    if (this.#idsLength + id.length * 3 > this.#ids.length)
      this.#ids = grown(this.#ids, this.#idsLength + id.length * 3);
    const packed = packHex(id, this.#ids, this.#idsLength);
    this.#idsLength += packed ? id.length / 2 : this.#ids.write(id, this.#idsLength, 'utf8');
    return packed ? 1 : 0;
  }

  #addRaw(bytes: Uint8Array): void {
    if (this.#rawLength + bytes.length > this.#raw.length) this.#raw = grown(this.#raw, this.#rawLength + bytes.length);
    this.#raw.set(bytes, this.#rawLength);
    this.#rawLength += bytes.length;
  }

  finish(): Chunk {
    const u = this.#u;
    const e = this.#e;
    return {
      updates: {
        kind: new Uint8Array(u.kind),
        migrationId: new Float64Array(u.migrationId),
        name: new Uint32Array(u.name),
        recordTime: new Float64Array(u.recordTime),
        idStart: new Uint32Array(u.idStart),
        idLength: new Uint32Array(u.idLength),
        idPacked: new Uint8Array(u.idPacked),
        isScan: new Uint8Array(u.isScan),
        eventsEnd: new Uint32Array(u.eventsEnd),
        ignoredEnd: new Uint32Array(u.ignoredEnd),
        ignoredEvents: new Uint32Array(u.ignoredEvents),
        rawEnd: new Float64Array(u.rawEnd),
        partition: new Int32Array(u.partition),
        offset: new Float64Array(u.offset),
      },
      events: {
        kind: new Uint8Array(e.kind),
        fold: new Float64Array(e.fold),
        idStart: new Uint32Array(e.idStart),
        idLength: new Uint32Array(e.idLength),
        idPacked: new Uint8Array(e.idPacked),
        dso: new Uint32Array(e.dso),
        owner: new Uint32Array(e.owner),
        template: new Uint32Array(e.template),
        extra: new Uint32Array(e.extra),
        amount: new BigInt64Array(e.amount),
        rate: new BigInt64Array(e.rate),
        rateRound: new BigInt64Array(e.rateRound),
        round: new Float64Array(e.round),
        expiry: new Float64Array(e.expiry),
        createdAt: new Float64Array(e.createdAt),
        node: new Float64Array(e.node),
      },
      names: this.#names.list,
      ids: this.#ids.subarray(0, this.#idsLength),
      raw: this.#raw.subarray(0, this.#rawLength),
      rare: this.#rare,
      rareEvents: this.#rareEvents,
    };
  }
}

function grown(buffer: Buffer, needed: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  larger.set(buffer);
  return larger;
}

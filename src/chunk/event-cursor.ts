import { BadUpdate } from '../ledger/bad-update.ts';
import type { ComparedCoin } from '../ledger/coin.ts';
import { type StoredId, storedId } from '../ledger/contract-id.ts';
import { expiryRound } from '../ledger/expiry.ts';
import { coinEntity, type Entity } from '../ledger/templates.ts';
import type { Micros } from '../ledger/time.ts';
import type { Coin, OpenRound } from '../ledger/update.ts';
import { type Chunk, EVENT, type EventColumns, isFault, type RareEvent, rowStart, UPDATE } from './chunk.ts';
import { idAt, isIdText, isSameId } from './ids.ts';
import type { Items } from './items.ts';
import type { NamedValues } from './names.ts';
import type { EventRef } from './refs.ts';

/**
 * Reads packed events, one after the other, under the names that they have in `LedgerEvent`. One cursor moves over many
 * events and creates values only when they are read; a caller that needs an event later keeps its `ref`, not the cursor.
 */
export class EventCursor {
  #chunk!: Chunk;
  #columns!: EventColumns;
  #update = 0;
  #event = 0;
  #end = 0;
  /** The event, where it does not fit the columns. */
  #rare: RareEvent | null = null;
  /** The coin that it creates, where that does not fit the columns. */
  #wide: Coin | null = null;

  /** Moves before the first event of an update. */
  begin(chunk: Chunk, update: number): this {
    const ends = chunk.updates.eventsEnd;
    this.#chunk = chunk;
    this.#columns = chunk.events;
    this.#update = update;
    this.#event = rowStart(ends, update) - 1;
    this.#end = ends[update]!;
    return this;
  }

  /** Moves to the next event of the update; false after its last. */
  next(): boolean {
    this.#event += 1;
    if (this.#event >= this.#end) return false;
    this.#read();
    return true;
  }

  /** Moves to the event of a ref. */
  moveTo({ chunk, update, event }: EventRef): this {
    this.#chunk = chunk;
    this.#columns = chunk.events;
    this.#update = update;
    this.#event = event;
    this.#end = event;
    this.#read();
    return this;
  }

  #read(): void {
    this.#rare = null;
    this.#wide = null;
    if (this.#columns.kind[this.#event] !== EVENT.rare) return;
    const rare = this.#chunk.rareEvents.get(this.#event)!;
    this.#rare = rare;
    if (rare.kind !== 'OpenMiningRound' && !isFault(rare.body)) this.#wide = rare.body;
  }

  ref(): EventRef {
    return { chunk: this.#chunk, update: this.#update, event: this.#event };
  }

  get isArchive(): boolean {
    return this.#columns.kind[this.#event]! > EVENT.rare;
  }

  /** Null for an archive that names no template. */
  get entity(): Entity | null {
    switch (this.#columns.kind[this.#event]) {
      case EVENT.amulet:
      case EVENT.archiveAmulet:
        return 'Amulet';
      case EVENT.locked:
      case EVENT.archiveLocked:
        return 'LockedAmulet';
      case EVENT.archiveAny:
        return null;
      case EVENT.archiveRound:
        return 'OpenMiningRound';
      default:
        return this.#rare!.kind;
    }
  }

  /** The 53-bit hash of migration and contract id. */
  get idHash(): number {
    return this.#columns.idHash[this.#event]!;
  }

  contractId(): StoredId {
    return idAt(this.#chunk, this.#columns, this.#event);
  }

  /** Adds the item of a coin's create or of an archive. */
  addItemTo(items: Items): void {
    items.addFrom(this.#chunk.items, this.#event);
  }

  /** Whether another event names the same contract. */
  hasIdOf(other: EventRef): boolean {
    return isSameId(this.#chunk, this.#event, other.chunk, other.event);
  }

  /** Whether its contract id has that text: the upper-case hex digits of a packed id, a colon and the id of any other. */
  hasIdText(text: string): boolean {
    return isIdText(this.#chunk, this.#event, text);
  }

  /** The id of the update that created the contract; null for an import, except for those of a seed where it is known. */
  updateId(): StoredId | null {
    const { updates, createdIn } = this.#chunk;
    if (updates.kind[this.#update] === UPDATE.update) return idAt(this.#chunk, updates, this.#update);
    const id = createdIn.get(this.#update);
    return id === undefined ? null : storedId(id);
  }

  /** The party that a create names as its dso. */
  get dso(): string {
    return this.#rare?.dso ?? this.#chunk.names[this.#columns.dso[this.#event]!]!;
  }

  /**
   * Whether its dso signed a create. Throws BadUpdate for what is wrong with the create: its other fields are checked only
   * once its dso is known to be ours, and must not be read before this.
   */
  isSigned(): boolean {
    if (this.#rare === null) return true;
    const { signatories, dso, body } = this.#rare;
    if (isFault(signatories)) throw BadUpdate.restore(signatories);
    if (!signatories.includes(dso)) return false;
    if (isFault(body)) throw BadUpdate.restore(body);
    return true;
  }

  /** The mining round that the event opens; null for any other event. */
  get openRound(): OpenRound | null {
    return this.#rare?.kind === 'OpenMiningRound' && !isFault(this.#rare.body) ? this.#rare.body : null;
  }

  get locked(): boolean {
    if (this.#wide !== null) return this.#wide.entity === 'LockedAmulet';
    return this.#columns.kind[this.#event] === EVENT.locked;
  }

  get owner(): string {
    return this.#wide?.owner ?? this.#chunk.names[this.#columns.owner[this.#event]!]!;
  }

  /** The value kept for its owner. */
  ownerIn<Value>(values: NamedValues<Value>, make: (owner: string) => Value): Value {
    if (this.#wide !== null) return make(this.#wide.owner);
    return values.of(this.#chunk.names, this.#columns.owner[this.#event]!, make);
  }

  /** 1e-10 units. */
  get amount(): bigint {
    return this.#wide?.amount ?? this.#columns.amount[this.#event]!;
  }

  /** 1e-10 units per round. */
  get rate(): bigint {
    return this.#wide?.rate ?? this.#columns.rate[this.#event]!;
  }

  /** The product of rate and round of creation. */
  get rateRound(): bigint {
    const wide = this.#wide;
    return wide === null ? this.#columns.rateRound[this.#event]! : wide.rate * wide.round;
  }

  get round(): number | bigint {
    return this.#wide?.round ?? this.#columns.round[this.#event]!;
  }

  /** The first round in which its fee reaches its amount; Infinity: never. */
  get expiry(): number | bigint {
    const wide = this.#wide;
    if (wide === null) return this.#columns.expiry[this.#event]!;
    return expiryRound({ ...wide, createdRound: wide.round }) ?? Infinity;
  }

  get createdAt(): Micros {
    return this.#wide?.createdAt ?? this.#columns.createdAt[this.#event]!;
  }

  get node(): number {
    return this.#wide?.node ?? this.#columns.node[this.#event]!;
  }

  /** `<template id>\n<package name>` */
  get template(): string {
    const wide = this.#wide;
    if (wide !== null) return `${wide.templateId}\n${wide.packageName}`;
    return this.#chunk.names[this.#columns.template[this.#event]!]!;
  }

  get extra(): string | null {
    if (this.#wide !== null) return this.#wide.extra;
    const extra = this.#columns.extra[this.#event]!;
    return extra === 0 ? null : this.#chunk.extras[extra - 1]!;
  }

  /** The content of a coin's create, to be compared with that of another one. */
  coin(): ComparedCoin {
    const { locked, owner, amount, rate, round, createdAt, extra } = this;
    return { entity: coinEntity(locked), owner, amount, rate, round: BigInt(round), createdAt, extra };
  }
}

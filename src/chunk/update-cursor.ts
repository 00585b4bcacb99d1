import { createHash } from 'node:crypto';
import type { StoredId } from '../ledger/contract-id.ts';
import type { Micros } from '../ledger/time.ts';
import { type Checkpoint, fieldNameIn, type SeedMark, type WireFormat } from '../ledger/update.ts';
import { type Chunk, type RareUpdate, rowStart, type Undecodable, UPDATE } from './chunk.ts';
import { EventCursor } from './event-cursor.ts';
import { type UpdateRef, updateIdOf } from './refs.ts';

/**
 * Reads the messages of a chunk under the names that they have in `Decoded`. One cursor moves over all of them and creates
 * values only when they are read; a caller that needs an update later keeps its `ref`, not the cursor.
 */
export class UpdateCursor {
  readonly #chunk: Chunk;
  readonly #events = new EventCursor();
  #update = 0;

  constructor(chunk: Chunk, update = 0) {
    this.#chunk = chunk;
    this.#update = update;
  }

  moveTo(update: number): this {
    this.#update = update;
    return this;
  }

  ref(): UpdateRef {
    return { chunk: this.#chunk, update: this.#update };
  }

  get lane(): string {
    return this.#chunk.names[this.#chunk.updates.lane[this.#update]!]!;
  }

  /** The message's number in its lane. */
  get offset(): number {
    return this.#chunk.updates.offset[this.#update]!;
  }

  /** The lane's cursor after the message. */
  get cursorAfter(): string {
    return this.#chunk.cursors.get(this.#update) ?? String(this.offset + 1);
  }

  /** Why it could not be decoded, and what could still be read of it; null for one that was decoded. */
  get undecodable(): Undecodable | null {
    const rare = this.#rare;
    return rare?.kind === 'bad' ? rare : null;
  }

  /** Null for any other message. */
  get checkpoint(): Checkpoint | null {
    const rare = this.#rare;
    return rare?.kind === 'checkpoint' ? rare : null;
  }

  /** Null for any other message. */
  get seedMark(): SeedMark | null {
    const rare = this.#rare;
    return rare?.kind === 'seed mark' ? rare : null;
  }

  /** The kind under which the whole message was ignored; null for any other. */
  get ignoredAs(): string | null {
    return this.#chunk.updates.kind[this.#update] === UPDATE.ignored ? this.#name : null;
  }

  get #rare(): RareUpdate | null {
    return this.#chunk.updates.kind[this.#update] === UPDATE.rare ? this.#chunk.rare.get(this.#update)! : null;
  }

  get #name(): string {
    return this.#chunk.names[this.#chunk.updates.name[this.#update]!]!;
  }

  // The getters from here to `events` are for updates only.

  get migrationId(): number {
    return this.#chunk.updates.migrationId[this.#update]!;
  }

  get synchronizerId(): string {
    return this.#name;
  }

  /** Null for an import. */
  get recordTime(): Micros | null {
    const { kind, recordTime } = this.#chunk.updates;
    return kind[this.#update] === UPDATE.update ? recordTime[this.#update]! : null;
  }

  /** Whether it is an import of a seed. */
  get isSeed(): boolean {
    return this.#chunk.updates.kind[this.#update] === UPDATE.seed;
  }

  get format(): WireFormat {
    return this.#chunk.updates.isScan[this.#update] === 1 ? 'scan' : 'ledger-api';
  }

  /** Its participant's own number of it; null where it has none. */
  get ledgerOffset(): number | null {
    const offset = this.#chunk.updates.ledgerOffset[this.#update]!;
    return offset < 0 ? null : offset;
  }

  updateId(): StoredId {
    return updateIdOf(this.ref());
  }

  /** A cursor before its first event; the same object for every update. */
  events(): EventCursor {
    return this.#events.begin(this.#chunk, this.#update);
  }

  /** A field's name as the update's own format writes it. */
  fieldName(scanName: string): string {
    return fieldNameIn(this.format, scanName);
  }

  /** The kinds of the events that were ignored. */
  ignoredEvents(): readonly string[] {
    const { ignoredEvents, names, updates } = this.#chunk;
    const end = updates.ignoredEnd[this.#update]!;
    const ignored: string[] = [];
    for (let i = rowStart(updates.ignoredEnd, this.#update); i < end; i++) ignored.push(names[ignoredEvents[i]!]!);
    return ignored;
  }

  /** The message's bytes as the chunk holds them: only the start of an over-long one. */
  bytes(): Uint8Array {
    const { rawEnd } = this.#chunk.updates;
    return this.#chunk.raw.subarray(rowStart(rawEnd, this.#update), rawEnd[this.#update]);
  }

  /** The length of the whole message, also of one that is kept in part; null for a null value, which has no bytes. */
  get length(): number | null {
    const { rawEnd } = this.#chunk.updates;
    const length = rawEnd[this.#update]! - rowStart(rawEnd, this.#update);
    if (length === 0 && this.ignoredAs !== null) return null;
    return this.undecodable?.overlong?.length ?? length;
  }

  /** The SHA-256 of the whole message, also of one that is kept in part. */
  sha256(): Buffer {
    const overlong = this.undecodable?.overlong ?? null;
    if (overlong !== null) return Buffer.from(overlong.sha256, 'hex');
    return createHash('sha256').update(this.bytes()).digest();
  }
}

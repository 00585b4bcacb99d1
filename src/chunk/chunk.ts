import type { FaultCode } from '../ledger/bad-update.ts';
import type { Checkpoint, LedgerEvent, SeedMark } from '../ledger/update.ts';

/**
 * Decoded updates in columns: what the threads that decode hand to the writer. Typed arrays are moved between threads, not
 * copied, and cost the writer no parsing; what is rare (wide numbers, rounds, counterfeits, bad updates) travels
 * with the columns as plain objects. A chunk holds whole updates only.
 */
export interface Chunk {
  readonly updates: UpdateColumns;
  readonly events: EventColumns;
  /** Indexes into `names`: why each event that was left out is ignored, in the order of the updates. */
  readonly ignoredEvents: Uint32Array;
  /** Parties, synchronizers, templates, names of ignored kinds. Shared with the chunks around it, which may add to it. */
  readonly names: readonly string[];
  /** Coin.extra of this chunk's coins that have one. */
  readonly extras: readonly string[];
  /** Bytes of contract and update ids; see ledger/contract-id.ts. */
  readonly ids: Uint8Array;
  /** By event number: the item of a coin's create or of an archive (docs/digest.md), 8 words each; see items.ts. */
  readonly items: Uint32Array;
  /** The messages' own bytes, one after the other, for dead letters. */
  readonly raw: Uint8Array;
  /** By update number: cursors after messages whose source does not count by offsets. */
  readonly cursors: ReadonlyMap<number, string>;
  /** By update number: the updates with the creates of a seed's imports, where known. */
  readonly createdIn: ReadonlyMap<number, string>;
  /** By update number: checkpoints, seed marks, bad messages. */
  readonly rare: ReadonlyMap<number, RareUpdate>;
  /** By event number: events that do not fit the columns. */
  readonly rareEvents: ReadonlyMap<number, RareEvent>;
}

export const UPDATE = { update: 0, import: 1, ignored: 2, rare: 3, seed: 4 } as const;

export interface UpdateColumns {
  readonly kind: Uint8Array;
  readonly migrationId: Float64Array;
  /** Index into `names`: the synchronizer, or what was ignored. */
  readonly name: Uint32Array;
  /** Record time in microseconds; 0 for imports. */
  readonly recordTime: Float64Array;
  readonly idStart: Uint32Array;
  readonly idLength: Uint32Array;
  readonly idPacked: Uint8Array;
  readonly isScan: Uint8Array;
  /** Of the participant that gave the update; -1 where it has none. */
  readonly ledgerOffset: Float64Array;
  readonly eventsEnd: Uint32Array;
  /** End in `ignoredEvents` of the names of the events that were left out. */
  readonly ignoredEnd: Uint32Array;
  readonly rawEnd: Float64Array;
  /** Index into `names`: the message's lane, and its number there. */
  readonly lane: Uint32Array;
  readonly offset: Float64Array;
}

export const EVENT = {
  amulet: 0,
  locked: 1,
  rare: 2,
  archiveAmulet: 3,
  archiveLocked: 4,
  archiveRound: 5,
  /** The archive of a contract of any template with that id. */
  archiveAny: 6,
} as const;

export interface EventColumns {
  readonly kind: Uint8Array;
  /** The 53-bit hash of migration and contract id. */
  readonly idHash: Float64Array;
  readonly idStart: Uint32Array;
  readonly idLength: Uint32Array;
  readonly idPacked: Uint8Array;
  /** Index into `names`. Of a coin: its dso (which signed it), owner, `<template id>\n<package name>`. */
  readonly dso: Uint32Array;
  readonly owner: Uint32Array;
  readonly template: Uint32Array;
  /** Index into `extras` + 1; 0: none. */
  readonly extra: Uint32Array;
  /** 1e-10 units; the product in units times rounds. */
  readonly amount: BigInt64Array;
  readonly rate: BigInt64Array;
  readonly rateRound: BigInt64Array;
  readonly round: Float64Array;
  /** Infinity: never. */
  readonly expiry: Float64Array;
  readonly createdAt: Float64Array;
  readonly node: Float64Array;
}

/** A BadUpdate that can cross threads. */
export interface Fault {
  readonly code: FaultCode;
  readonly field: string;
  readonly given: string;
  readonly expected: string;
}

export type RareUpdate = Checkpoint | SeedMark | Undecodable;

export interface Undecodable {
  readonly kind: 'bad';
  readonly fault: Fault;
  /** What could still be read of it, for the operator. */
  readonly updateId: string | null;
  readonly recordTime: number | null;
  readonly migrationId: number | null;
  /** Set for a message longer than the limit, of which only the first part is kept. */
  readonly overlong: { readonly length: number; readonly sha256: string } | null;
}

type Portable<T> = T extends readonly unknown[]
  ? T
  : T extends { readonly body: infer B }
    ? Omit<T, 'body' | 'signatories'> & {
        readonly signatories: readonly string[] | Fault;
        readonly body: Exclude<B, Error> | Fault;
      }
    : T;

/** A ledger event whose faults can cross threads. */
export type RareEvent = Portable<Exclude<LedgerEvent, { kind: 'archive' }>>;

export function isFault(value: object): value is Fault {
  return 'expected' in value && 'field' in value;
}

/** How many messages a chunk holds. */
export function messageCount({ updates }: Chunk): number {
  return updates.kind.length;
}

/** A copy of the id hashes of all events in messages `from` to `to`. */
export function idHashesOf({ updates, events }: Chunk, from: number, to: number): Float64Array {
  return events.idHash.slice(rowStart(updates.eventsEnd, from), rowStart(updates.eventsEnd, to));
}

/** Where row `row` begins, by a column that holds where each row ends. */
export function rowStart(ends: Uint32Array | Float64Array, row: number): number {
  return row === 0 ? 0 : ends[row - 1]!;
}

const NO_BYTES = new Uint8Array(0);

/** The chunk without the messages' own bytes, which are most of it. */
export function withoutBytes(chunk: Chunk): Chunk {
  return { ...chunk, raw: NO_BYTES };
}

/** The buffers to move to the other thread with the chunk. */
export function transferList(chunk: Chunk): ArrayBuffer[] {
  const columns = [...Object.values(chunk.updates), ...Object.values(chunk.events)];
  const arrays = [...columns, chunk.ignoredEvents, chunk.ids, chunk.items, chunk.raw];
  return [...new Set(arrays.map((array: { buffer: ArrayBufferLike }) => array.buffer as ArrayBuffer))];
}

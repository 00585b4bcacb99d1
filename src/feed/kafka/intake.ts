import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import { Merge, placeOf } from '../merge.ts';
import type { Message, PartitionStatus } from '../source.ts';
import {
  checkLastApplied,
  checkNotCut,
  checkNotRemoved,
  type PartitionBounds,
  type StartOffset,
  type StoredPosition,
} from './guards.ts';
import { decodeRecord, hashesOf, type KafkaRecord, recordOf, sha256, sizeOf } from './record.ts';

/** Messages that were read and are not handed over take at most about this much, over all partitions. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
export interface IntakeOptions {
  readonly topic: string;
  readonly starts: ReadonlyMap<number, StartOffset>;
  /** Of messages that carry none. */
  readonly migrationId: number;
  /** Null: an idle partition holds the others for ever. */
  readonly partitionIdleMs: number | null;
  /** Called where the last applied message is no longer in the topic, though what follows it is. */
  readonly onUnverified: (partition: number) => void;
}

/** A batch as it comes from Kafka, in the order of offsets. */
export interface FetchedBatch {
  readonly partition: number;
  /** What was asked for; Kafka may have put another offset in its place. */
  readonly fetchedOffset: number;
  readonly messages: readonly { readonly offset: number; readonly value: Buffer | null }[];
}

/** Where reading stood when the topic was asked what it holds. */
export interface BoundsRequest {
  /** By our clock, milliseconds. */
  readonly at: number;
  readonly cursors: ReadonlyMap<number, number>;
}

/** What is read no longer fits what the session started with: the next one compares everything with the topic again. */
export class SessionOver extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SessionOver';
  }
}

interface Lane {
  readonly partition: number;
  /** The next offset to fetch. */
  cursor: number;
  /** The first message is not new: it must have this hash. Null once that was seen. */
  verify: Uint8Array | null;
  waiting: number;
  waitingBytes: number;
  bounds: PartitionBounds | null;
  /** Since when nothing follows, and the latest moment at which that was seen to be so still. */
  endSeenAt: number | null;
  endConfirmedAt: number;
  /** Behind what was handed over; and behind what is stored, which at first is where reading starts. */
  handedOver: { readonly nextOffset: number; readonly bytes: Uint8Array | null } | null;
  storedNext: number;
}

/** What is read of a topic's partitions and not yet handed over: in order, bounded, and with its position. No I/O. */
export class KafkaIntake {
  readonly #options: IntakeOptions;
  readonly #lanes: ReadonlyMap<number, Lane>;
  readonly #merge: Merge<KafkaRecord>;
  #newestRecordTime: Micros | null = null;
  /** What the topic held at one time of our clock, and the last such time at which all of it is stored. */
  #mark: { readonly at: number; readonly ends: ReadonlyMap<number, number> } | null = null;
  #caughtUpAt: number | null = null;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#lanes = new Map([...options.starts].map(([partition, start]) => [partition, createLane(partition, start)]));
    const single = this.#lanes.size === 1;
    this.#merge = new Merge<KafkaRecord>(this.#lanes.keys(), (item) => (single ? null : this.#decodedPlace(item)));
  }

  get partitions(): readonly number[] {
    return [...this.#lanes.keys()];
  }

  /** Bytes of one partition to ask for in one fetch. */
  get fetchBytes(): number {
    return Math.ceil(this.#laneBytesMax / 4);
  }

  get #laneBytesMax(): number {
    return Math.max(1024 * 1024, WAITING_BYTES_MAX / this.#lanes.size);
  }

  /** The offset to fetch next. */
  cursor(partition: number): number | undefined {
    return this.#lanes.get(partition)?.cursor;
  }

  /** Whether more of a partition may be read: not while much of it waits. */
  isFull(partition: number): boolean {
    return this.#lanes.get(partition)!.waitingBytes >= this.#laneBytesMax;
  }

  hasRoom(partition: number): boolean {
    return this.#lanes.get(partition)!.waitingBytes <= this.#laneBytesMax / 2;
  }

  receive({ partition, fetchedOffset, messages }: FetchedBatch): void {
    const lane = this.#lanes.get(partition)!;
    if (fetchedOffset !== lane.cursor) {
      throw new SessionOver(`partition ${partition} went on at offset ${fetchedOffset} where ${lane.cursor} was due`);
    }
    const items = messages.map(({ offset, value }) => recordOf(partition, offset, value));
    if (items.length === 0) return;
    this.#noteRecordTime(items);
    if (items[0]!.offset === lane.cursor && this.#verified(lane, items[0]!)) items.shift();
    if (items.length === 0) return;
    lane.endSeenAt = null;
    lane.waiting += items.length;
    for (const item of items) lane.waitingBytes += sizeOf(item);
    this.#merge.add(partition, items);
  }

  /** Whether the message is the one applied last, which is not handed over again. */
  #verified(lane: Lane, first: KafkaRecord): boolean {
    if (lane.verify === null) return false;
    const found = hashesOf(first);
    checkLastApplied(this.#options.topic, lane.partition, first.offset, { stored: lane.verify, found });
    lane.verify = null;
    return true;
  }

  /** Everything before this offset was received, control records and aborted messages included. */
  advance(partition: number, nextOffset: number): void {
    const lane = this.#lanes.get(partition)!;
    if (lane.verify !== null) {
      lane.verify = null;
      this.#options.onUnverified(partition);
    }
    lane.cursor = nextOffset;
  }

  /** Taken before the topic is asked what it holds: by the time it answers, more may have been written and read. */
  boundsRequest(at: number): BoundsRequest {
    return { at, cursors: new Map([...this.#lanes].map(([partition, { cursor }]) => [partition, cursor])) };
  }

  /** What the topic holds. Throws where that does not reach where we were when it was asked. */
  noteBounds({ at, cursors }: BoundsRequest, held: ReadonlyMap<number, PartitionBounds>): void {
    for (const lane of this.#lanes.values()) {
      const bounds = held.get(lane.partition);
      if (bounds === undefined) continue;
      const { topic } = this.#options;
      checkNotRemoved(topic, lane.partition, lane.cursor, bounds);
      checkNotCut(topic, lane.partition, cursors.get(lane.partition)!, bounds);
      lane.bounds = bounds;
      lane.endSeenAt = lane.cursor < bounds.high ? null : (lane.endSeenAt ?? at);
      lane.endConfirmedAt = at;
    }
    this.#mark ??= {
      at,
      ends: new Map(this.partitions.map((partition) => [partition, held.get(partition)?.high ?? 0])),
    };
    this.#checkMark();
  }

  /** Messages whose turn has come, at most `max`. */
  take(max: number): readonly Message[] {
    const items = this.#merge.take(max, this.#passedOver());
    const last = new Map<number, KafkaRecord>();
    for (const item of items) {
      const lane = this.#lanes.get(item.partition)!;
      lane.waiting -= 1;
      lane.waitingBytes -= sizeOf(item);
      last.set(item.partition, item);
    }
    for (const [partition, { offset, bytes }] of last) {
      // A copy: the bytes are a part of a whole fetch, which they would keep in memory.
      this.#lanes.get(partition)!.handedOver = { nextOffset: offset + 1, bytes: bytes && Buffer.from(bytes) };
    }
    return items;
  }

  noteStored(nextOffsets: ReadonlyMap<number, number>): void {
    for (const [partition, nextOffset] of nextOffsets) {
      const lane = this.#lanes.get(partition);
      if (lane !== undefined) lane.storedNext = nextOffset;
    }
    this.#checkMark();
  }

  /** Up to where everything of a partition is stored: behind control records too, where nothing else is on its way. */
  storedThrough(partition: number): number {
    const lane = this.#lanes.get(partition)!;
    const onItsWay = lane.waiting > 0 || (lane.handedOver !== null && lane.handedOver.nextOffset !== lane.storedNext);
    return onItsWay ? lane.storedNext : lane.verify === null ? lane.cursor : lane.storedNext;
  }

  #checkMark(): void {
    if (this.#mark === null) return;
    for (const [partition, end] of this.#mark.ends) {
      if (this.storedThrough(partition) < end) return;
    }
    this.#caughtUpAt = this.#mark.at;
    this.#mark = null;
  }

  /** Where another session goes on: behind what was handed over. */
  positions(): Map<number, StoredPosition> {
    const handedOver = [...this.#lanes.values()].flatMap(({ partition, handedOver: last }) =>
      last === null ? [] : [[partition, { nextOffset: last.nextOffset, sha256: sha256(last.bytes) }] as const],
    );
    return new Map(handedOver);
  }

  get caughtUpAt(): number | null {
    return this.#caughtUpAt;
  }

  get newestRecordTime(): Micros | null {
    return this.#newestRecordTime;
  }

  /** Partitions at their end for which others wait. */
  holding(): readonly number[] {
    const holding = this.#merge.holding(this.#passedOver());
    return holding.filter((partition) => this.#lanes.get(partition)!.endSeenAt !== null);
  }

  status(): readonly PartitionStatus[] {
    const passedOver = this.#passedOver();
    return [...this.#lanes.values()].map(({ partition, bounds }) => {
      const nextOffset = this.storedThrough(partition);
      const endOffset = bounds?.high ?? null;
      const lag = endOffset === null ? null : Math.max(0, endOffset - nextOffset);
      return { partition, nextOffset, endOffset, lag, passedOver: passedOver.has(partition) };
    });
  }

  /** Idle for long enough, by what the broker said last: an answer that fails to come passes nobody over. */
  #passedOver(): ReadonlySet<number> {
    const { partitionIdleMs } = this.#options;
    if (partitionIdleMs === null) return NONE;
    const lanes = [...this.#lanes.values()].filter(
      ({ waiting, endSeenAt, endConfirmedAt }) =>
        waiting === 0 && endSeenAt !== null && endConfirmedAt - endSeenAt >= partitionIdleMs,
    );
    return new Set(lanes.map((lane) => lane.partition));
  }

  #decodedPlace(item: KafkaRecord): ReturnType<typeof placeOf> {
    const decoded = decodeRecord(item, this.#options.migrationId);
    item.decoded = decoded;
    return decoded instanceof BadUpdate ? null : placeOf(decoded);
  }

  /** Of the last message that names one: tombstones, and what cannot be read, may follow it. */
  #noteRecordTime(items: readonly KafkaRecord[]): void {
    for (const item of items.toReversed()) {
      const decoded = decodeRecord(item, this.#options.migrationId);
      const recordTime = decoded instanceof BadUpdate ? null : (placeOf(decoded)?.recordTime ?? null);
      if (recordTime === null) continue;
      this.#newestRecordTime = Math.max(this.#newestRecordTime ?? recordTime, recordTime);
      return;
    }
  }
}

const NONE: ReadonlySet<number> = new Set();

function createLane(partition: number, { offset, verify }: StartOffset): Lane {
  return {
    partition,
    cursor: offset,
    verify,
    waiting: 0,
    waitingBytes: 0,
    bounds: null,
    endSeenAt: null,
    endConfirmedAt: 0,
    handedOver: null,
    storedNext: verify === null ? offset : offset + 1,
  };
}

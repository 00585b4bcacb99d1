import { tryDecode } from '../../decode/decode-message.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { Micros } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';
import type { BrokenContainer, Message } from '../source.ts';
import type { TopicSettings } from './kafka-client.ts';
import { MayPass } from './kafka-errors.ts';
import {
  checkHeld,
  checkLastApplied,
  type PartitionBounds,
  partitionName,
  type StartOffset,
  type StoredPosition,
  type TopicTelemetry,
} from './kafka-positions.ts';
import { type Fetched, hashesOf, type KafkaRecord, recordsOf, sha256, waitingBytesOf } from './kafka-record.ts';
import { Merge, type SortKey, sortKeyOf } from './merge.ts';

/** Messages that were read and not yet returned take at most about this much, over all partitions. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

export interface IntakeOptions extends Pick<TopicSettings, 'topic' | 'partitionIdleMs'> {
  readonly starts: ReadonlyMap<number, StartOffset>;
  /** The migration of messages that name none. */
  readonly migrationId: number;
  /** The next offset of each partition as the views have it, which may change at any time: `noteStored` is called after it. */
  readonly stored: ReadonlyMap<number, number>;
  /** As sessions before it have read. */
  readonly newestRecordTime: Micros | null;
}

/** What was read of a topic's partitions and not yet returned: in order, bounded, and with its position. No I/O. */
export class KafkaIntake {
  readonly #options: IntakeOptions;
  readonly #partitions: ReadonlyMap<number, PartitionBuffer>;
  readonly #merge: Merge<KafkaRecord>;
  #newestRecordTime: Micros | null;
  /** What the topic had at one time of our clock; kept until all of it is stored. */
  #mark: { readonly at: number; readonly held: ReadonlyMap<number, PartitionBounds> } | null = null;
  #caughtUpAt: number | null = null;
  #broken: BrokenContainer | null = null;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#newestRecordTime = options.newestRecordTime;
    this.#partitions = new Map(
      [...options.starts].map(([partition, start]) => [
        partition,
        new PartitionBuffer(options.topic, partition, start),
      ]),
    );
    const single = this.#partitions.size === 1;
    this.#merge = new Merge<KafkaRecord>(this.#partitions.keys(), (item) => (single ? null : this.#sortKey(item)));
  }

  /** Bytes of one partition to request in one fetch. */
  get fetchBytes(): number {
    return Math.ceil(this.#bytesMax / 4);
  }

  get #bytesMax(): number {
    return Math.max(1024 * 1024, WAITING_BYTES_MAX / this.#partitions.size);
  }

  /** The offset to fetch next. */
  nextFetch(partition: number): number | undefined {
    return this.#partitions.get(partition)?.nextFetch;
  }

  /** Whether much of a partition is waiting, so that no more of it should be read, or a broken batch. */
  isFull(partition: number): boolean {
    const { waitingBytes, isBroken } = this.#partitions.get(partition)!;
    return isBroken || waitingBytes >= this.#bytesMax;
  }

  hasRoom(partition: number): boolean {
    const { waitingBytes, isBroken } = this.#partitions.get(partition)!;
    return !isBroken && waitingBytes <= this.#bytesMax / 2;
  }

  /** Takes what was fetched from an offset on, which Kafka may have chosen in place of the one requested. */
  receive(partition: number, fetchedOffset: number, messages: readonly Fetched[]): void {
    const buffer = this.#partitions.get(partition)!;
    if (buffer.isBroken) return;
    const { nextFetch, verify } = buffer;
    if (fetchedOffset !== nextFetch)
      throw new MayPass(`partition ${partition} continued at offset ${fetchedOffset} instead of ${nextFetch}`);
    const items = recordsOf(partition, messages, fetchedOffset);
    this.#noteRecordTime(items);
    if (items.length > 0 && verify !== null && !items[0]!.broken) buffer.compare(items.shift()!);
    if (items.length === 0) return;
    buffer.endSeenAt = null;
    buffer.isBroken = items.at(-1)!.broken !== undefined;
    buffer.waiting += items.length;
    for (const item of items) buffer.waitingBytes += waitingBytesOf(item);
    this.#merge.add(partition, items);
  }

  /** Everything before this offset was received, control records and aborted messages included. */
  advance(partition: number, nextOffset: number): void {
    const buffer = this.#partitions.get(partition)!;
    if (buffer.isBroken) return;
    buffer.compare(null);
    buffer.nextFetch = nextOffset;
    this.noteStored();
  }

  /** Taken before the topic's offsets are requested: when they come, more may have been written and read. */
  readTo(): ReadonlyMap<number, number> {
    return new Map([...this.#partitions].map(([partition, { nextNewOffset }]) => [partition, nextNewOffset]));
  }

  /** Takes the topic's offsets, as of a time of our clock. Throws where they end before what was read when they were requested. */
  noteBounds(at: number, read: ReadonlyMap<number, number>, held: ReadonlyMap<number, PartitionBounds>): void {
    for (const buffer of this.#partitions.values()) {
      const { name, partition, nextNewOffset: next } = buffer;
      const bounds = held.get(partition)!;
      checkHeld(name, { next, read: read.get(partition)! }, bounds);
      buffer.bounds = bounds;
      buffer.endSeenAt = buffer.nextFetch < bounds.high ? null : (buffer.endSeenAt ?? at);
      buffer.endConfirmedAt = at;
    }
    this.#mark ??= { at, held };
    this.noteStored();
  }

  /** The next messages in order, at most `max`. Throws BrokenContainer once all before a batch that cannot be read were returned. */
  take(max: number): readonly Message[] {
    if (this.#broken !== null) throw this.#broken;
    const taken = this.#merge.take(max, this.#idle());
    const firstBroken = taken.find(({ broken }) => broken !== undefined);
    this.#broken = firstBroken?.broken ?? null;
    if (taken.length > 0 && taken[0] === firstBroken) throw this.#broken;
    const items = firstBroken === undefined ? taken : taken.slice(0, taken.indexOf(firstBroken));
    const last = new Map<number, KafkaRecord>();
    for (const item of items) {
      const buffer = this.#partitions.get(item.partition)!;
      buffer.waiting -= 1;
      buffer.waitingBytes -= waitingBytesOf(item);
      last.set(item.partition, item);
    }
    for (const [partition, { offset, bytes }] of last) {
      // A copy: the bytes are a view of a whole fetch, which they would keep in memory.
      this.#partitions.get(partition)!.handedOver = { nextOffset: offset + 1, bytes: bytes && Buffer.from(bytes) };
    }
    return items;
  }

  /** The offset up to which everything of a partition is stored. */
  storedThrough(partition: number): number {
    return this.#partitions.get(partition)!.storedThrough(this.#options.stored.get(partition));
  }

  /**
   * Called when more was stored. Until the message applied last was compared, the topic may be another one. Looked at whenever something has moved: as soon as
   * another message waits, it is no longer known that the control records before it are stored.
   */
  noteStored(): void {
    if (this.#mark === null) return;
    for (const [partition, { high }] of this.#mark.held) {
      if (this.#partitions.get(partition)!.verify !== null || this.storedThrough(partition) < high) return;
    }
    this.#caughtUpAt = this.#mark.at;
    this.#mark = null;
  }

  /** Where another session continues: after what was returned. */
  positions(): Map<number, StoredPosition> {
    return new Map([...this.#partitions].map(([partition, { position }]) => [partition, position]));
  }

  telemetry(): Omit<TopicTelemetry, 'stopped'> {
    const idle = this.#idle();
    const blocking = this.#merge.blocking(idle).filter((each) => this.#partitions.get(each)!.endSeenAt !== null);
    return {
      blocking: blocking.map(
        (partition) => `partition ${partition} is at its end, and the others wait until it has a later message`,
      ),
      caughtUpAt: this.#caughtUpAt,
      newestRecordTime: this.#newestRecordTime,
      partitions: [...this.#partitions.values()].map(({ partition, bounds }) => ({
        partition,
        nextOffset: this.storedThrough(partition),
        endOffset: bounds?.high ?? null,
        isIdle: idle.has(partition),
      })),
    };
  }

  /** Partitions idle for long enough, by the broker's last answer: while it does not answer, none is idle. */
  #idle(): ReadonlySet<number> {
    const { partitionIdleMs } = this.#options;
    if (partitionIdleMs === null) return NONE;
    const idle = [...this.#partitions.values()].filter(
      ({ waiting, endSeenAt, endConfirmedAt }) =>
        waiting === 0 && endSeenAt !== null && endConfirmedAt - endSeenAt >= partitionIdleMs,
    );
    return new Set(idle.map((buffer) => buffer.partition));
  }

  /** Null for what has no meaning to sort by: a null value, an over-long or a bad message. */
  #decode({ bytes, overlong }: KafkaRecord): Decoded | null {
    if (bytes === null || overlong !== undefined) return null;
    const decoded = tryDecode(bytes, { migrationId: this.#options.migrationId });
    return decoded instanceof BadUpdate ? null : decoded;
  }

  #sortKey(item: KafkaRecord): SortKey | null {
    const decoded = this.#decode(item);
    if (decoded === null) return null;
    item.decoded = decoded;
    return sortKeyOf(decoded);
  }

  /** Notes the record time of the last message that has one: tombstones and unreadable messages may follow it. */
  #noteRecordTime(items: readonly KafkaRecord[]): void {
    for (const item of items.toReversed()) {
      const decoded = this.#decode(item);
      const recordTime = (decoded && sortKeyOf(decoded)?.recordTime) ?? null;
      if (recordTime === null) continue;
      this.#newestRecordTime = Math.max(this.#newestRecordTime ?? recordTime, recordTime);
      return;
    }
  }
}

const NONE: ReadonlySet<number> = new Set();

/** How far one partition was read, returned and stored; its messages are in the merge. */
class PartitionBuffer {
  /** For messages. */
  readonly name: string;
  readonly partition: number;
  /** The position when this session began, after all that was returned before. */
  readonly start: StoredPosition;
  /** The next offset to fetch. */
  nextFetch: number;
  /** The first message was applied before, and must have this hash. Null once it was compared. */
  verify: Uint8Array | null;
  /** Its last record stands for a batch that cannot be read: nothing more is fetched. */
  isBroken = false;
  waiting = 0;
  waitingBytes = 0;
  bounds: PartitionBounds | null = null;
  /** Since when nothing follows, and when that was last seen. */
  endSeenAt: number | null = null;
  endConfirmedAt = 0;
  /** The offset after what was returned in this session, and the bytes of its last message. */
  handedOver: { readonly nextOffset: number; readonly bytes: Uint8Array | null } | null = null;

  constructor(topic: string, partition: number, { position, verify }: StartOffset) {
    this.name = partitionName(topic, partition);
    this.partition = partition;
    this.start = position;
    this.nextFetch = verify ? position.nextOffset - 1 : position.nextOffset;
    this.verify = verify ? position.sha256 : null;
  }

  /** Compares the message with the one applied last, which is not returned again. */
  compare(first: KafkaRecord | null): void {
    if (this.verify === null) return;
    const found = first && { offset: first.offset, hashes: hashesOf(first) };
    checkLastApplied(this.name, { offset: this.nextFetch, sha256: this.verify }, found);
    this.verify = null;
    this.nextFetch += 1;
  }

  /** The next offset to fetch that was not read before. */
  get nextNewOffset(): number {
    return this.verify === null ? this.nextFetch : this.nextFetch + 1;
  }

  /** Where another session continues: after what was returned. */
  get position(): StoredPosition {
    if (this.handedOver === null) return this.start;
    const { nextOffset, bytes } = this.handedOver;
    return { firstOffset: this.start.firstOffset, nextOffset, sha256: sha256(bytes) };
  }

  /** The offset up to which everything is stored: past control records too, once all that was returned is. `stored`: undefined before a commit. */
  storedThrough(stored: number = this.start.firstOffset): number {
    const returned = (this.handedOver ?? this.start).nextOffset;
    const isOnItsWay = this.waiting > 0 || this.verify !== null || stored < returned;
    return isOnItsWay ? stored : this.nextFetch;
  }
}

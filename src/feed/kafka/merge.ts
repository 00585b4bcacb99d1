import type { Micros } from '../../ledger/time.ts';
import type { Decoded } from '../../ledger/update.ts';

/**
 * How a message sorts among those of other partitions: by migration, imports first, then record time, then updates
 * before checkpoints, then synchronizer. Equal keys are ordered by partition.
 */
export interface SortKey {
  readonly migrationId: number;
  /** Null for an import. Of a checkpoint the smallest of its times. */
  readonly recordTime: Micros | null;
  /** Null for a checkpoint. */
  readonly synchronizerId: string | null;
}

/** The sort key of a message; null for one without a time, which stays after its predecessor. */
export function sortKeyOf(decoded: Decoded): SortKey | null {
  if (decoded.kind === 'update') return decoded;
  if (decoded.kind === 'import marker') return { ...decoded, synchronizerId: null };
  if (decoded.kind === 'ignored' || decoded.times.length === 0) return null;
  const recordTime = decoded.times.reduce((least, each) => Math.min(least, each.recordTime), Infinity);
  return { migrationId: decoded.migrationId, recordTime, synchronizerId: null };
}

/** Negative where `a` comes first; 0 only for keys that partition and offset must tell apart. */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a.migrationId !== b.migrationId) return a.migrationId - b.migrationId;
  const [left, right] = [a.recordTime ?? Number.NEGATIVE_INFINITY, b.recordTime ?? Number.NEGATIVE_INFINITY];
  if (left !== right) return left < right ? -1 : 1;
  if (a.synchronizerId === b.synchronizerId) return 0;
  if (a.synchronizerId === null || b.synchronizerId === null) return a.synchronizerId === null ? 1 : -1;
  return a.synchronizerId < b.synchronizerId ? -1 : 1;
}

interface MergeQueue<Item> {
  readonly partition: number;
  /** Consumed from `head` on; cut when it runs empty or long. */
  queue: Item[];
  head: number;
  /** Of the item at `head`: its own key or its predecessor's; null where neither names one, and then it goes first. */
  key: SortKey | null;
}

const CONSUMED_MAX = 4096;

/**
 * Puts the messages of several partitions into one order that does not depend on when they arrive:
 * each partition keeps its own order, and among the partitions' next messages the smallest key goes first. So a message
 * waits until every other partition has shown one, except those that the caller names as idle.
 */
export class Merge<Item> {
  readonly #lanes: Map<number, MergeQueue<Item>>;
  readonly #keyOf: (item: Item) => SortKey | null;

  /** `keyOf` is called once for each item, when it is the next of its partition: items that wait may stay undecoded. */
  constructor(partitions: Iterable<number>, keyOf: (item: Item) => SortKey | null) {
    const numbers = [...partitions].sort((a, b) => a - b);
    this.#lanes = new Map(numbers.map((partition) => [partition, { partition, queue: [], head: 0, key: null }]));
    this.#keyOf = keyOf;
  }

  add(partition: number, items: readonly Item[]): void {
    const lane = this.#lanes.get(partition)!;
    const wasEmpty = isEmpty(lane);
    for (const item of items) lane.queue.push(item);
    if (wasEmpty && !isEmpty(lane)) lane.key = this.#keyOf(lane.queue[lane.head]!) ?? lane.key;
  }

  /** The next messages in order, at most `max`. */
  take(max: number, idle: ReadonlySet<number>): Item[] {
    const taken: Item[] = [];
    while (taken.length < max) {
      const next = this.#next(idle);
      if (next === null) return taken;
      taken.push(this.#shift(next));
    }
    return taken;
  }

  /** The partitions that others wait for: they have nothing more, while others have. */
  blocking(idle: ReadonlySet<number>): number[] {
    const lanes = [...this.#lanes.values()];
    if (lanes.every(isEmpty)) return [];
    return lanes.filter((lane) => isEmpty(lane) && !idle.has(lane.partition)).map((lane) => lane.partition);
  }

  #shift(lane: MergeQueue<Item>): Item {
    const item = lane.queue[lane.head]!;
    lane.head += 1;
    if (isEmpty(lane) || lane.head === CONSUMED_MAX) {
      lane.queue = lane.queue.slice(lane.head);
      lane.head = 0;
    }
    if (!isEmpty(lane)) lane.key = this.#keyOf(lane.queue[lane.head]!) ?? lane.key;
    return item;
  }

  /** The lane whose message is next; null where a partition must show a message first. */
  #next(idle: ReadonlySet<number>): MergeQueue<Item> | null {
    let first: MergeQueue<Item> | null = null;
    for (const lane of this.#lanes.values()) {
      if (!isEmpty(lane)) first = first === null || goesFirst(lane, first) ? lane : first;
      else if (!idle.has(lane.partition)) return null;
    }
    return first;
  }
}

function isEmpty(lane: MergeQueue<unknown>): boolean {
  return lane.head === lane.queue.length;
}

function goesFirst(lane: MergeQueue<unknown>, other: MergeQueue<unknown>): boolean {
  const [a, b] = [lane.key, other.key];
  if (a === null || b === null) return a === b ? lane.partition < other.partition : a === null;
  const order = compareKeys(a, b);
  return order === 0 ? lane.partition < other.partition : order < 0;
}

import { FeedRefused } from '../source.ts';

/** What a position belongs to. A topic that was deleted and made again has the same name: see `verify`. */
export interface TopicIdentity {
  readonly clusterId: string;
  readonly topic: string;
}

/** How far one partition was applied, as the views store it. */
export interface StoredPosition {
  readonly nextOffset: number;
  /** Of the last applied message, the one before `nextOffset`; null where there was none. */
  readonly sha256: Uint8Array | null;
}

/** The offsets that the topic holds of a partition: `low` is the first, `high` the next to be written. */
export interface PartitionBounds {
  readonly low: number;
  readonly high: number;
}

/** Where reading starts. `verify`: the message at `offset` was applied already; its SHA-256 must be this one. */
export interface StartOffset {
  readonly offset: number;
  readonly verify: Uint8Array | null;
}

const START_ANEW =
  'build the views anew: start with another --data directory, replaying into it first the files that hold what the topic lacks';

export function identityText({ clusterId, topic }: TopicIdentity): string {
  return JSON.stringify({ clusterId, topic });
}

/** The views go on from the topic they were built from, and from no other. */
export function checkIdentity(stored: string | null, found: TopicIdentity): void {
  if (stored === null || stored === identityText(found)) return;
  const { clusterId, topic } = JSON.parse(stored) as TopicIdentity;
  throw new FeedRefused(
    `these views were built from topic ${topic} of the Kafka cluster ${clusterId}, and this is topic ${found.topic} of cluster ${found.clusterId}: ` +
      'give --kafka-brokers and --kafka-topic as before, or another --data directory',
  );
}

/** Where to start in each partition of the topic; throws where the topic no longer holds what comes next. */
export function startOffsets(
  topic: string,
  stored: ReadonlyMap<number, StoredPosition>,
  held: ReadonlyMap<number, PartitionBounds>,
): Map<number, StartOffset> {
  const lost = [...stored.keys()].find((partition) => !held.has(partition));
  if (lost !== undefined) {
    throw new FeedRefused(
      `topic ${topic} has no partition ${lost}, which these views were built from: it was made anew; ${START_ANEW}`,
    );
  }
  return new Map(
    [...held].map(([partition, bounds]) => [partition, startOffset(topic, partition, stored.get(partition), bounds)]),
  );
}

function startOffset(
  topic: string,
  partition: number,
  stored: StoredPosition | undefined,
  bounds: PartitionBounds,
): StartOffset {
  if (stored === undefined) return { offset: bounds.low, verify: null };
  const { nextOffset, sha256 } = stored;
  checkNotRemoved(topic, partition, nextOffset, bounds);
  checkNotCut(topic, partition, nextOffset, bounds);
  const isLastHeld = nextOffset - 1 >= bounds.low;
  return sha256 !== null && isLastHeld
    ? { offset: nextOffset - 1, verify: sha256 }
    : { offset: nextOffset, verify: null };
}

/** Kafka itself would go on silently at the first offset that it holds. */
export function checkNotRemoved(topic: string, partition: number, nextOffset: number, { low }: PartitionBounds): void {
  if (nextOffset >= low) return;
  throw new FeedRefused(
    `partition ${partition} of topic ${topic} goes on at offset ${nextOffset} for these views, and Kafka has removed everything before ${low}: ` +
      `what lies between is missing; ${START_ANEW}`,
  );
}

/** Kafka itself would wait silently for the end to come there, or go on at one end of the partition. */
export function checkNotCut(topic: string, partition: number, nextOffset: number, { high }: PartitionBounds): void {
  if (nextOffset <= high) return;
  throw new FeedRefused(
    `partition ${partition} of topic ${topic} ends at offset ${high}, and these views were built from it up to ${nextOffset}: ` +
      `it was cut or made anew; ${START_ANEW}`,
  );
}

/** The message that was applied last must still be the one at its offset. `found`: its hash; an over-long one has two. */
export function checkLastApplied(
  topic: string,
  partition: number,
  offset: number,
  { stored, found }: { stored: Uint8Array; found: readonly Uint8Array[] },
): void {
  if (found.some((hash) => Buffer.compare(stored, hash) === 0)) return;
  throw new FeedRefused(
    `partition ${partition} of topic ${topic} holds another message at offset ${offset} than the one these views applied: ` +
      `the topic was made anew; ${START_ANEW}`,
  );
}

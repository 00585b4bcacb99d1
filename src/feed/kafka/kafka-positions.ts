import type { Micros } from '../../ledger/time.ts';
import { FeedRefused, type SourceStart, type SourceState } from '../source.ts';

/** What a position belongs to. A topic that was deleted and created again has the same name: see `verify`. */
export interface TopicIdentity {
  readonly clusterId: string;
  readonly topic: string;
}

/** How far one partition was applied, as the views store it. */
export interface StoredPosition {
  /** The first offset that the topic had in it when it was first seen: stored before anything of it is applied. */
  readonly firstOffset: number;
  readonly nextOffset: number;
  /** The hash of the last applied message, the one before `nextOffset`; null while there is none. */
  readonly sha256: Uint8Array | null;
}

/** A topic's positions from what the views stored. */
export function positionsOf(lanes: SourceState['lanes']): Map<number, StoredPosition> {
  return new Map(
    [...lanes].map(([lane, { start, resumeToken, sha256 }]) => {
      return [Number(lane), { firstOffset: Number(start), nextOffset: Number(resumeToken), sha256 }];
    }),
  );
}

/** What the views store of it before anything of it is applied. */
export function startOf(identity: string, positions: ReadonlyMap<number, StoredPosition>): SourceStart {
  const resumeTokens = new Map([...positions].map(([lane, { firstOffset }]) => [String(lane), String(firstOffset)]));
  return { identity, resumeTokens };
}

/** What the views were built from, and how far; the identity is null, and there are no positions, before they saw a topic. */
export interface StoredTopic {
  /** See `identityText`. */
  readonly identity: string | null;
  readonly positions: ReadonlyMap<number, StoredPosition>;
}

/** The offsets that a partition has: `low` is the first, `high` the next to be written. */
export interface PartitionBounds {
  readonly low: number;
  readonly high: number;
}

/** Where reading starts: at the position, or at the message before it, which was applied last and is compared. */
export interface StartOffset {
  readonly position: StoredPosition;
  readonly verify: boolean;
}

const RESTART =
  'build the views again: start with another --data directory, and first replay into it the files with what the topic lacks';

export function identityText({ clusterId, topic }: TopicIdentity): string {
  return JSON.stringify({ clusterId, topic });
}

/** The views continue only with the topic that they were built from. */
export function checkIdentity(stored: string | null, found: TopicIdentity): void {
  if (stored === null || stored === identityText(found)) return;
  const { clusterId, topic } = JSON.parse(stored) as TopicIdentity;
  throw new FeedRefused(
    `these views were built from topic ${topic} of the Kafka cluster ${clusterId}, ` +
      `and this is topic ${found.topic} of cluster ${found.clusterId}: ` +
      'give --kafka-brokers and --kafka-topic as before, or another --data directory',
  );
}

/** Where to start in each partition of the topic; throws where the topic no longer has what comes next. */
export function startOffsets(
  topic: string,
  stored: StoredTopic,
  held: ReadonlyMap<number, PartitionBounds>,
): Map<number, StartOffset> {
  const { identity, positions } = stored;
  const lost = [...positions.keys()].find((partition) => !held.has(partition));
  if (lost !== undefined)
    throw new FeedRefused(
      `topic ${topic} has no partition ${lost}, which these views were built from: it was created again; ${RESTART}`,
    );
  const starts = [...held].map(([partition, bounds]): [number, StartOffset] => {
    const { low } = bounds;
    const name = partitionName(topic, partition);
    const position = positions.get(partition);
    if (position === undefined) {
      // A topic that was never seen may begin anywhere; a partition that was added since must begin with its first message.
      if (identity === null || low === 0)
        return [partition, { position: { firstOffset: low, nextOffset: low, sha256: null }, verify: false }];
      const lacking = 'what was there since these views follow the topic is missing';
      throw refused(name, `is new to these views, and Kafka has removed everything before ${low}: ${lacking}`);
    }
    const { firstOffset, nextOffset, sha256 } = position;
    checkHeld(name, { next: nextOffset, read: nextOffset }, bounds);
    // While nothing of it was applied, no message can be compared; but what is removed from a partition never comes back.
    const began = `and began at ${firstOffset} when these views first saw it: it was created again`;
    if (sha256 === null && low < firstOffset) throw refused(name, `begins at offset ${low}, ${began}`);
    return [partition, { position, verify: sha256 !== null && nextOffset - 1 >= low }];
  });
  return new Map(starts);
}

export function partitionName(topic: string, partition: number): string {
  return `partition ${partition} of topic ${topic}`;
}

/** What nothing but views that are built again can mend. */
function refused(name: string, found: string): FeedRefused {
  return new FeedRefused(`${name} ${found}; ${RESTART}`);
}

/** What the log and /status say about partitions whose first messages were gone when they were first seen. */
export function lackingTexts(positions: ReadonlyMap<number, StoredPosition>): string[] {
  return [...positions]
    .filter(([, { firstOffset }]) => firstOffset > 0)
    .map(
      ([partition, { firstOffset }]) =>
        `partition ${partition} began at offset ${firstOffset} when these views first saw it: ` +
        'what was before is not in them, unless files had it',
    );
}

/**
 * Throws where the topic has lost the next message, at which Kafka would continue silently with the first one it has, or messages
 * that were read: it would wait silently until the partition's end gets there, or continue at one of its ends.
 */
export function checkHeld(
  name: string,
  { next, read }: { readonly next: number; readonly read: number },
  { low, high }: PartitionBounds,
): void {
  const removed = `and Kafka has removed everything before ${low}: what is between is missing`;
  if (next < low) throw refused(name, `continues at offset ${next} for these views, ${removed}`);
  const built = `and these views were built from it up to ${read}: it was truncated or created again`;
  if (read > high) throw refused(name, `ends at offset ${high}, ${built}`);
}

/**
 * The message that was applied last must still be the one at its offset; Kafka would silently return what comes next. `found`: the
 * first message from there, where an over-long one has two hashes; null where none is known to follow.
 */
export function checkLastApplied(
  name: string,
  { offset, sha256 }: { readonly offset: number; readonly sha256: Uint8Array },
  found: { readonly offset: number; readonly hashes: readonly Uint8Array[] } | null,
): void {
  if (found?.offset === offset) {
    if (found.hashes.some((hash) => Buffer.compare(sha256, hash) === 0)) return;
    const other = `another message at offset ${offset} than the one these views applied: the topic was created again`;
    throw refused(name, `has ${other}`);
  }
  const next = found ? `the next one is at offset ${found.offset}` : 'only ends of transactions, or what they aborted';
  throw refused(
    name,
    `has no message at offset ${offset}, where these views applied their last one (${next}): ` +
      'the topic is compacted, which loses messages silently (cleanup.policy must be delete), or it was created again',
  );
}

/** What the reading thread knows of a topic. Clock times in milliseconds since 1970. */
export interface TopicTelemetry {
  /** Why it is not read now; null when it is. */
  readonly stopped: string | null;
  /** Which partitions the others wait for, a sentence each: a possible reason for a lag. */
  readonly blocking: readonly string[];
  /** Everything that the topic had at this time of our clock is stored; null before that was so for the first time. */
  readonly caughtUpAt: number | null;
  /** The newest record time read, whether applied or not. */
  readonly newestRecordTime: Micros | null;
  readonly partitions: readonly PartitionTelemetry[];
}

export interface PartitionTelemetry {
  readonly partition: number;
  /** The next offset to store. */
  readonly nextOffset: number;
  /** The offset after the partition's last message, when last requested. */
  readonly endOffset: number | null;
  /** Idle for so long that the others no longer wait for it. */
  readonly isIdle: boolean;
}

/** Before anything was read. */
export const NOTHING_READ: Omit<TopicTelemetry, 'stopped'> = {
  blocking: [],
  caughtUpAt: null,
  newestRecordTime: null,
  partitions: [],
};

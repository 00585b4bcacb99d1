import type { PartitionBounds, StartOffset, StoredPosition } from './positions.ts';
import { sha256 } from './record.ts';

/** How far one partition was read, returned and stored; its messages are in the merge. */
export interface PartitionBuffer {
  readonly partition: number;
  /** The position when this session began, after all that was returned before. */
  readonly start: StoredPosition;
  /** The next offset to fetch. */
  nextFetch: number;
  /** The first message was applied before, and must have this hash. Null once it was compared. */
  verify: Uint8Array | null;
  waiting: number;
  waitingBytes: number;
  bounds: PartitionBounds | null;
  /** Since when nothing follows, and when that was last seen. */
  endSeenAt: number | null;
  endConfirmedAt: number;
  /** The offset after what was returned in this session, and the bytes of its last message. */
  handedOver: { readonly nextOffset: number; readonly bytes: Uint8Array | null } | null;
}

export function createPartitionBuffer(partition: number, { position, verify }: StartOffset): PartitionBuffer {
  return {
    partition,
    start: position,
    nextFetch: verify ? position.nextOffset - 1 : position.nextOffset,
    verify: verify ? position.sha256 : null,
    waiting: 0,
    waitingBytes: 0,
    bounds: null,
    endSeenAt: null,
    endConfirmedAt: 0,
    handedOver: null,
  };
}

/** The next offset to fetch that was not read before. */
export function nextNewOffset({ nextFetch, verify }: PartitionBuffer): number {
  return verify === null ? nextFetch : nextFetch + 1;
}

/** Where another session continues: after what was returned. */
export function positionOf({ start, handedOver }: PartitionBuffer): StoredPosition {
  if (handedOver === null) return start;
  const { nextOffset, bytes } = handedOver;
  return { firstOffset: start.firstOffset, nextOffset, sha256: sha256(bytes) };
}

/**
 * The offset up to which everything is stored: past control records too, once all that was returned is stored, whichever
 * session read it. `stored`: undefined before the first commit.
 */
export function storedThrough(
  { waiting, verify, nextFetch, handedOver, start }: PartitionBuffer,
  stored: number = start.firstOffset,
): number {
  const isOnItsWay = waiting > 0 || verify !== null || stored < (handedOver ?? start).nextOffset;
  return isOnItsWay ? stored : nextFetch;
}

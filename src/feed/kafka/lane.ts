import type { PartitionBounds, StartOffset, StoredPosition } from './guards.ts';
import { sha256 } from './record.ts';

/** What is read of one partition and not yet handed over, as far as it is counted; its messages wait in the merge. */
export interface Lane {
  readonly partition: number;
  /** After what was handed over before this session. */
  readonly start: StoredPosition;
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
  /** After what was handed over in this session, and the bytes of the last of it. */
  handedOver: { readonly nextOffset: number; readonly bytes: Uint8Array | null } | null;
}

export function createLane(partition: number, { position, verify }: StartOffset): Lane {
  return {
    partition,
    start: position,
    cursor: verify ? position.nextOffset - 1 : position.nextOffset,
    verify: verify ? position.sha256 : null,
    waiting: 0,
    waitingBytes: 0,
    bounds: null,
    endSeenAt: null,
    endConfirmedAt: 0,
    handedOver: null,
  };
}

/** The next offset to fetch that is new. */
export function newCursor({ cursor, verify }: Lane): number {
  return verify === null ? cursor : cursor + 1;
}

/** Where another session continues: after what was handed over. */
export function positionOf({ start, handedOver }: Lane): StoredPosition {
  if (handedOver === null) return start;
  const { nextOffset, bytes } = handedOver;
  return { firstOffset: start.firstOffset, nextOffset, sha256: sha256(bytes) };
}

/**
 * Up to where everything is stored: after control records too, where nothing else is on its way. What was handed over is
 * on its way until it is stored, whichever session read it. `stored`: undefined before the first commit.
 */
export function storedThrough(
  { waiting, verify, cursor, handedOver, start }: Lane,
  stored: number = start.firstOffset,
): number {
  const isOnItsWay = waiting > 0 || verify !== null || stored < (handedOver ?? start).nextOffset;
  return isOnItsWay ? stored : cursor;
}

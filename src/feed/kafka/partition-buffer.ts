import type { PartitionBounds, StartOffset, StoredPosition } from './positions.ts';
import { sha256 } from './record.ts';

/** How far one partition was read, returned and stored; its messages are in the merge. */
export class PartitionBuffer {
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

  constructor(partition: number, { position, verify }: StartOffset) {
    this.partition = partition;
    this.start = position;
    this.nextFetch = verify ? position.nextOffset - 1 : position.nextOffset;
    this.verify = verify ? position.sha256 : null;
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

  /**
   * The offset up to which everything is stored: past control records too, once all that was returned is stored, whichever
   * session read it. `stored`: undefined before the first commit.
   */
  storedThrough(stored: number = this.start.firstOffset): number {
    const returned = (this.handedOver ?? this.start).nextOffset;
    const isOnItsWay = this.waiting > 0 || this.verify !== null || stored < returned;
    return isOnItsWay ? stored : this.nextFetch;
  }
}

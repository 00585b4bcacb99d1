import type { Chunk } from '../../chunk/chunk.ts';
import { laneOf, messageHash } from '../../chunk/message.ts';
import type { Micros } from '../../ledger/time.ts';

/** Part of a chunk that is applied in memory and not yet on disk. */
export interface Segment {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
  /** The clock reading it was judged with: applied again it must be judged the same, wherever the clock has jumped to. */
  readonly now: Micros;
  /** Of the last message of each lane, taken before its bytes were given away. */
  readonly hashes?: ReadonlyMap<string, Buffer>;
}

const NO_BYTES = new Uint8Array(0);

/** The messages' bytes are most of a chunk; applying it again needs them only to look up decisions. */
export function withoutMessages(segment: Segment, { keepsHash }: { keepsHash: boolean }): Segment {
  const hashes = segment.hashes ?? (keepsHash ? lastHashes(segment) : new Map());
  return { ...segment, hashes, chunk: { ...segment.chunk, raw: NO_BYTES } };
}

function lastHashes({ chunk, from, to }: Segment): ReadonlyMap<string, Buffer> {
  return new Map([...lastMessages(chunk, from, to)].map(([lane, i]) => [lane, messageHash(chunk, i)]));
}

/** The last message of each lane within a range. */
export function lastMessages(chunk: Chunk, from: number, to: number): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (let i = from; i < to; i++) last.set(laneOf(chunk, i), i);
  return last;
}

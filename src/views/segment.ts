import type { Chunk } from '../ledger/pack/chunk.ts';
import type { Micros } from '../ledger/time.ts';

/** Part of a chunk that is applied in memory and not yet on disk. */
export interface Segment {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
  /** The clock reading it was judged with: applied again it must be judged the same, wherever the clock has jumped to. */
  readonly now: Micros;
}

const NO_BYTES = new Uint8Array(0);

/** The messages' bytes are most of a chunk; applying it again needs them only to look up decisions and for hashes. */
export function withoutMessages(segment: Segment): Segment {
  return { ...segment, chunk: { ...segment.chunk, raw: NO_BYTES } };
}

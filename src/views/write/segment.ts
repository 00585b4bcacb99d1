import { type Chunk, withoutBytes } from '../../chunk/chunk.ts';
import { UpdateCursor } from '../../chunk/update-cursor.ts';
import type { Micros } from '../../ledger/time.ts';

/** Part of a chunk that is applied in memory and not yet on disk. */
export interface Segment {
  readonly chunk: Chunk;
  readonly from: number;
  readonly to: number;
  /** The clock reading it was checked with: applied again it must give the same result, even if the clock has jumped. */
  readonly now: Micros;
  /** The messages left out, because their bytes were dropped or quarantined before. */
  readonly decided: ReadonlySet<number>;
  /** The hash of the last message of each lane, taken before its bytes were given away. */
  readonly hashes?: ReadonlyMap<string, Buffer>;
}

/** The messages' bytes are most of a chunk; applying it again needs none of them. */
export function withoutMessageBytes(segment: Segment, { keepsHash }: { keepsHash: boolean }): Segment {
  const hashes = segment.hashes ?? (keepsHash ? lastHashes(segment) : new Map());
  return { ...segment, hashes, chunk: withoutBytes(segment.chunk) };
}

function lastHashes({ chunk, from, to }: Segment): ReadonlyMap<string, Buffer> {
  return new Map([...lastMessages(chunk, from, to)].map(([lane, message]) => [lane, message.sha256()]));
}

/** The last message of each lane within a range. */
export function lastMessages(chunk: Chunk, from: number, to: number): ReadonlyMap<string, UpdateCursor> {
  const last = new Map<string, number>();
  const message = new UpdateCursor(chunk);
  for (let i = from; i < to; i++) last.set(message.moveTo(i).lane, i);
  return new Map([...last].map(([lane, i]) => [lane, new UpdateCursor(chunk, i)]));
}

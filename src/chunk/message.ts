import { createHash } from 'node:crypto';
import { type Chunk, UPDATE } from './chunk.ts';

/** The bytes of message `i` as the chunk holds them: of an over-long message the start. */
export function messageBytes(chunk: Chunk, i: number): Uint8Array {
  return chunk.raw.subarray(i === 0 ? 0 : chunk.updates.rawEnd[i - 1]!, chunk.updates.rawEnd[i]!);
}

/** The lane of message `i`. */
export function laneOf({ names, updates }: Chunk, i: number): string {
  return names[updates.lane[i]!]!;
}

/** Its lane's cursor behind message `i`. */
export function cursorBehind({ cursors, updates }: Chunk, i: number): string {
  return cursors.get(i) ?? String(updates.offset[i]! + 1);
}

/** What is known of the whole of an over-long message. */
export function overlongOf(chunk: Chunk, i: number): { readonly length: number; readonly sha256: string } | null {
  const rare = chunk.rare.get(i);
  return rare?.kind === 'bad' ? rare.overlong : null;
}

/** The length of the whole message, also of one that is kept in part; null for a null value, which has no bytes. */
export function messageLength(chunk: Chunk, i: number): number | null {
  const { rawEnd, kind } = chunk.updates;
  const length = rawEnd[i]! - (i === 0 ? 0 : rawEnd[i - 1]!);
  if (kind[i] === UPDATE.ignored && length === 0) return null;
  return overlongOf(chunk, i)?.length ?? length;
}

/** The SHA-256 of the whole message, also of one that is kept in part. */
export function messageHash(chunk: Chunk, i: number): Buffer {
  const overlong = overlongOf(chunk, i);
  if (overlong !== null) return Buffer.from(overlong.sha256, 'hex');
  return createHash('sha256').update(messageBytes(chunk, i)).digest();
}

import type { Chunk } from '../../chunk/chunk.ts';
import { UpdateCursor } from '../../chunk/update-cursor.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { DeadLetters } from '../store/dead-letter-store.ts';

/** A message of a chunk that cannot be applied. */
export interface BadMessage {
  readonly at: number;
  readonly bad: BadUpdate;
}

function isDecided(message: UpdateCursor, deadLetters: DeadLetters): boolean {
  return deadLetters.mayBeDecided(message.length) && deadLetters.isDecided(message.sha256());
}

const NONE: ReadonlySet<number> = new Set();

/** The messages of a range whose bytes were dropped or quarantined before. */
export function decidedIn(
  chunk: Chunk,
  { from, to }: { from: number; to: number },
  deadLetters: DeadLetters,
): ReadonlySet<number> {
  if (!deadLetters.anyDecided) return NONE;
  const decided = new Set<number>();
  const message = new UpdateCursor(chunk);
  for (let i = from; i < to; i++) if (isDecided(message.moveTo(i), deadLetters)) decided.add(i);
  return decided;
}

/** The first message of a range that could not be decoded: those before it can be applied at once. */
export function firstKnownBad(
  chunk: Chunk,
  { from, to }: { from: number; to: number },
  deadLetters: DeadLetters,
): BadMessage | null {
  const message = new UpdateCursor(chunk);
  for (let at = from; at < to; at++) {
    const { undecodable } = message.moveTo(at);
    if (undecodable === null || isDecided(message, deadLetters)) continue;
    return { at, bad: BadUpdate.restore(undecodable.fault) };
  }
  return null;
}

import { type Chunk, UPDATE } from '../../chunk/chunk.ts';
import { messageHash, messageLength } from '../../chunk/message.ts';
import { BadUpdate } from '../../ledger/bad-update.ts';
import type { DeadLetters } from '../store/dead-letters.ts';

/** A message of a chunk that cannot be applied. */
export interface BadMessage {
  readonly at: number;
  readonly bad: BadUpdate;
}

/** Whether a person or the policy decided on these bytes before. */
export function isDecided(chunk: Chunk, i: number, letters: DeadLetters): boolean {
  return letters.mayBeDecided(messageLength(chunk, i)) && letters.isDecided(messageHash(chunk, i));
}

/** The first message of a range that could not even be decoded: what comes before it can be applied without a trial. */
export function firstKnownBad(
  chunk: Chunk,
  { from, to }: { from: number; to: number },
  letters: DeadLetters,
): BadMessage | null {
  for (let at = from; at < to; at++) {
    if (chunk.updates.kind[at] !== UPDATE.rare) continue;
    const rare = chunk.rare.get(at);
    if (rare?.kind === 'bad' && !isDecided(chunk, at, letters)) return { at, bad: BadUpdate.restore(rare.fault) };
  }
  return null;
}

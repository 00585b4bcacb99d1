import { FILE_PARTITION } from '../chunk/chunk.ts';
import { FIRST_KNOWN, LOOKS_CUT_OFF, NOT_ACTIVE } from '../ledger/bad-update.ts';
import type { LetterFacts } from '../views/store/dead-letters.ts';

/** A text about a halt, and behind it what a halt of this kind most often comes from, where it tells. */
export function withHint(text: string, letter: LetterFacts): string {
  const hint = haltHint(letter);
  return hint === null ? text : `${text}. ${hint}`;
}

/** What most often lies behind a halt like this one, and what fits it better than an upgrade; null where nothing tells. */
export function haltHint({ decision, kind, partition, offset, field, expected, reason }: LetterFacts): string | null {
  if (decision !== 'halted' || kind !== 'update') return null;
  const isFile = partition === FILE_PARTITION;
  if (isFile && expected?.endsWith(LOOKS_CUT_OFF) === true)
    return 'The line looks cut off: then drop it and replay the whole file; nothing is lost by that, for what the line lacks is applied then';
  if (isFile && field === 'message' && offset <= 1)
    return 'The file may be no feed: then drop this message and replay the right file';
  if (expected?.endsWith(FIRST_KNOWN) === true)
    return `${isFile ? 'The files came in another order' : 'The topic begins before what was read first'}: then start a new directory with all of it, in order`;
  // An archive that a dead letter explains has that behind its reason.
  if (expected?.endsWith(NOT_ACTIVE) === true && reason.endsWith(NOT_ACTIVE))
    return 'The feed may start in the middle, or its files came in another order: then start a new directory with all of it, in order';
  return null;
}

import { formatTime } from '../ledger/time.ts';
import type { DeadLetterFacts } from '../views/store/dead-letters.ts';
import { haltHint, nextStep, nextText, type PrintCommand } from './advice-text.ts';
import { placeFacts, placeText } from './place.ts';

/** A halt in one line: where, which update, what is wrong with it, and what the operator should do. */
export function haltLine(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  const next = nextText(deadLetter, print);
  return `halted at ${placeText(deadLetter)}: ${updateOf(deadLetter)}${deadLetter.reason}; to go on: ${next}`;
}

/** A halt for a log and for programs: each fact under its name. */
export function haltFacts(deadLetter: DeadLetterFacts, print: PrintCommand): Record<string, unknown> {
  const { id, decision: _, recordTime, lane: _lane, cursor: _cursor, place, ...facts } = deadLetter;
  return {
    deadLetter: id,
    ...placeFacts({ place }),
    ...facts,
    recordTime: recordTime === null ? null : formatTime(recordTime),
    next: nextStep(deadLetter, print),
    hint: haltHint(deadLetter, print) ?? undefined,
  };
}

/** Which update it is, as far as the message can be read. */
function updateOf({ updateId, recordTime }: DeadLetterFacts): string {
  const names = [
    ...(updateId === null ? [] : [`update ${updateId}`]),
    ...(recordTime === null ? [] : [`record time ${formatTime(recordTime)}`]),
  ];
  return names.length === 0 ? '' : `${names.join(', ')}: `;
}

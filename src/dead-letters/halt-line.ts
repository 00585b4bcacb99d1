import { formatTime } from '../ledger/time.ts';
import type { LetterFacts } from '../views/store/dead-letters.ts';

/** What one line says of a halt: where, which update, what is wrong with it, and what an operator does now. */
export function haltLine(letter: LetterFacts): string {
  return `halted at ${placeOf(letter)}: ${updateOf(letter)}${letter.reason}; to go on: ${nextStep(letter)}`;
}

/** The same for a log and for programs: each fact under its name. */
export function haltFacts(letter: LetterFacts): Record<string, unknown> {
  const { id, decision: _, recordTime, ...facts } = letter;
  const time = recordTime === null ? null : formatTime(recordTime);
  return { deadLetter: id, ...facts, recordTime: time, next: nextStep(letter) };
}

/** As far as a message that cannot be applied says which update it is; nothing where it does not. */
function updateOf({ updateId, recordTime }: LetterFacts): string {
  const names = [
    ...(updateId === null ? [] : [`update ${updateId}`]),
    ...(recordTime === null ? [] : [`record time ${formatTime(recordTime)}`]),
  ];
  return names.length === 0 ? '' : `${names.join(', ')}: `;
}

/** Where a message stood, for people. */
export function placeOf({ kind, source, partition, offset }: LetterFacts): string {
  const name = sourceName(source);
  if (kind === 'container') return name;
  return partition < 0 ? `${name}, message ${offset}` : `${name}, partition ${partition}, offset ${offset}`;
}

function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source;
}

/** What an operator does now. */
export function nextStep({ id, kind, decision, source }: LetterFacts): string {
  const drop = `holdfast dead-letters drop ${id}`;
  switch (decision) {
    case 'quarantined':
      return 'nothing: the feed went on without it. It can only be put right by replaying the mended feed into a new directory';
    case 'dropped':
      return kind === 'container'
        ? `nothing: the halt has ended; read ${sourceName(source)} again from its start once it is mended`
        : 'nothing: it was dropped, and the same bytes are skipped from any source';
    case 'applied':
      return 'nothing: it was applied at its own place';
    case 'resolved':
      return 'nothing: the halt ended by itself';
    case 'halted':
      return haltedStep(kind, sourceName(source), drop);
  }
}

function haltedStep(kind: LetterFacts['kind'], source: string, drop: string): string {
  const stop = 'stop the service if one runs on this directory; then';
  const retry = 'holdfast dead-letters retry';
  switch (kind) {
    case 'update':
      return `${stop} \`${retry}\` after an upgrade that can read it or with other settings, or \`${drop}\` to go on without it`;
    case 'gap':
      return `${stop} \`${retry}\` with a larger --record-time-gap-max if the ledger did pause for so long, or \`${drop}\` to go on without it`;
    case 'overtaken':
      return `${stop} \`${drop}\` to go on without it, or build the views anew in another directory, which keeps it`;
    case 'overlong':
      return `${stop} \`${drop}\` to go on without it: only its start is kept, so it cannot be retried`;
    case 'container':
      return `mend ${source}; ${stop} \`${drop}\` to end the halt, and read the mended file from its start: what is known is skipped`;
    case 'ahead':
      return `set the clock right if it is wrong; else wait: the halt ends by itself once the clock has come near. Or ${stop} \`${drop}\` to go on without it`;
  }
}

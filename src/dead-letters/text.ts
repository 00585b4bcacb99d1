import { formatTime } from '../ledger/time.ts';
import { shellWord } from '../shell-word.ts';
import { parseColumn } from '../views/store/columns.ts';
import type { DeadLetterFacts } from '../views/store/dead-letters.ts';
import { hintAdvice, nextAdvice } from './advice.ts';

/** The command that lists dead letters. */
export const LIST = 'dead-letters list';

/** Shows a command of this program, given the words after the program's name; a shell must accept what is in backticks. */
export type PrintCommand = (words: string) => string;

/** Without the data directory: for HTTP, which shows no paths, and for the default directory. */
export const plainCommand: PrintCommand = (words) => `\`holdfast ${words}\``;

/** With the data directory, so that it may be run from anywhere. */
export function commandOn(dataDir: string): PrintCommand {
  return (words) => plainCommand(`${words} --data ${shellWord(dataDir)}`);
}

/** What the operator should do now, and the usual cause where one is known. */
export function nextText(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  const words = {
    source: sourceName(deadLetter.source),
    retry: print('dead-letters retry'),
    drop: print(`dead-letters drop ${deadLetter.id}`),
  };
  const [next, hint] = [nextAdvice(deadLetter), hintAdvice(deadLetter)];
  return hint === undefined ? next(words) : `${next(words)}. ${hint(words)}`;
}

/** A halt in one line: where, which update, what is wrong with it, and what the operator should do. */
export function haltLine(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  const next = nextText(deadLetter, print);
  return `halted at ${placeText(deadLetter)}: ${updateOf(deadLetter)}${deadLetter.reason}; to continue: ${next}`;
}

/** Which update it is, as far as the message can be read. */
function updateOf({ updateId, recordTime }: DeadLetterFacts): string {
  const names = [
    ...(updateId === null ? [] : [`update ${updateId}`]),
    ...(recordTime === null ? [] : [`record time ${formatTime(recordTime)}`]),
  ];
  return names.length === 0 ? '' : `${names.join(', ')}: `;
}

/** A dead letter for programs: in /status, in the log and on the command line. */
export function deadLetterJson(deadLetter: DeadLetterFacts, print: PrintCommand): Record<string, unknown> {
  const { id, kind, code, source, offset, recordTime, field, given, expected, reason } = deadLetter;
  return {
    dead_letter: id,
    kind,
    code,
    source,
    ...placeFacts(deadLetter),
    offset,
    migration_id: deadLetter.migrationId,
    update_id: deadLetter.updateId,
    record_time: recordTime === null ? null : formatTime(recordTime),
    field,
    given,
    expected,
    reason,
    next: nextText(deadLetter, print),
  };
}

/** Where a message came from, for people. */
export function placeText(deadLetter: DeadLetterFacts): string {
  const name = sourceName(deadLetter.source);
  if (deadLetter.code === 'broken_container') return name;
  const facts = Object.entries(placeFacts(deadLetter)).filter(([, value]) => value !== null);
  return [name, ...facts.map((fact) => fact.join(' '))].join(', ');
}

/** Under the names of its source. */
function placeFacts({ place }: DeadLetterFacts): Readonly<Record<string, string | number | null>> {
  return parseColumn<Record<string, string | number | null>>('dead_letter.place', place, JSON.parse);
}

function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source;
}

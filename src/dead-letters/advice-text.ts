import { shellWord } from '../shell-word.ts';
import type { DeadLetterFacts } from '../views/store/dead-letters.ts';
import { type Advice, hintAdvice, nextAdvice } from './advice.ts';
import { sourceName } from './place.ts';

/** Shows a command of this program, given the words after the program's name; a shell must accept what is in backticks. */
export type PrintCommand = (words: string) => string;

/** Without the data directory: for HTTP, which shows no paths, and for the default directory. */
export const plainCommand: PrintCommand = (words) => `\`holdfast ${words}\``;

/** With the data directory, so that it may be run from anywhere. */
export function commandOn(dataDir: string): PrintCommand {
  return (words) => plainCommand(`${words} --data ${shellWord(dataDir)}`);
}

/** What the operator should do now, as text. */
export function nextStep(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  return adviceText(nextAdvice(deadLetter), deadLetter, print);
}

/** The usual cause of such a halt, as text; null where none is known. */
export function haltHint(deadLetter: DeadLetterFacts, print: PrintCommand): string | null {
  const hint = hintAdvice(deadLetter);
  return hint === null ? null : adviceText(hint, deadLetter, print);
}

/** The usual cause and the next step. */
export function nextText(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  const hint = haltHint(deadLetter, print);
  return `${nextStep(deadLetter, print)}${hint === null ? '' : `. ${hint}`}`;
}

function adviceText(advice: Advice, deadLetter: DeadLetterFacts, print: PrintCommand): string {
  const texts = advice.map((part) => {
    if (typeof part === 'string') return part;
    if ('command' in part) return print(part.takesId ? `${part.command} ${deadLetter.id}` : part.command);
    return sourceName(deadLetter.source);
  });
  return texts.join('');
}

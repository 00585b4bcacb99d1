import { shellWord } from '../shell-word.ts';
import type { DeadLetterFacts } from '../views/store/dead-letters.ts';
import { type Advice, hintAdvice, nextAdvice } from './advice.ts';
import { sourceName } from './place.ts';

/** How a command of this program is shown, by its words after the program's name: a shell must take what is in backticks. */
export type PrintCommand = (words: string) => string;

/** Without the data directory: for HTTP, which names no paths, and where the default is meant. */
export const plainCommand: PrintCommand = (words) => `\`holdfast ${words}\``;

/** With the data directory, so that it may be run from anywhere. */
export function commandOn(dataDir: string): PrintCommand {
  return (words) => plainCommand(`${words} --data ${shellWord(dataDir)}`);
}

/** What an operator does now, as text. */
export function nextStep(deadLetter: DeadLetterFacts, print: PrintCommand): string {
  return adviceText(nextAdvice(deadLetter), deadLetter, print);
}

/** What a halt like this one most often comes from, as text; null where nothing tells. */
export function haltHint(deadLetter: DeadLetterFacts, print: PrintCommand): string | null {
  const hint = hintAdvice(deadLetter);
  return hint === null ? null : adviceText(hint, deadLetter, print);
}

/** Both, one after the other. */
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

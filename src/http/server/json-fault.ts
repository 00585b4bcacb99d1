import { endOfString } from '../../json/nesting.ts';
import { parseErrorAt } from '../../json/parse-error.ts';

const BLANK = /[ \t\n\r]/;
const NUMBER_PART = /[-+.\deE]/;

/**
 * Describes text that JSON.parse refuses, with the place. V8 names the place itself, except where a value is missing or
 * something else is in its place: there it quotes the text, or says only that the text ended.
 */
export function jsonFault(text: string, error: Error): string {
  if (typeof parseErrorAt(error) === 'number') return error.message;
  const at = missingValueAt(text);
  const character = text.codePointAt(at);
  if (character === undefined) return `Unexpected end of JSON input at ${lineAndColumn(text, at)}`;
  return `Unexpected token ${JSON.stringify(String.fromCodePoint(character))} in JSON at ${lineAndColumn(text, at)}`;
}

/** A position in V8's form, with line and column. */
function lineAndColumn(text: string, at: number): string {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `position ${at} (line ${lines.length} column ${lines.at(-1)!.length + 1})`;
}

/**
 * The index where a value is expected and something else is found, or the text's end. Every other fault has a place in V8's
 * message, so the text before this one is JSON.
 */
function missingValueAt(text: string): number {
  /** For each open bracket whether it is a list's: after a comma, a list has a value, an object a name. */
  const lists: boolean[] = [];
  let wanted: 'value' | 'value or ]' | 'no value' = 'value';
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (BLANK.test(character)) continue;
    if (wanted !== 'no value' && /[,:}\]]/.test(character) && !(wanted === 'value or ]' && character === ']')) return i;
    wanted = 'no value';
    if (character === ':') wanted = 'value';
    else if (character === ',') wanted = lists.at(-1) === true ? 'value' : 'no value';
    else if (character === '[') {
      wanted = 'value or ]';
      lists.push(true);
    } else if (character === '{') lists.push(false);
    else if (character === ']' || character === '}') lists.pop();
    else {
      const end = scalarEnd(text, i);
      if (!end.whole) return end.at;
      i = end.at;
    }
  }
  return text.length;
}

/** The last character of a string, number or literal that begins at `start`; or the first wrong one. */
function scalarEnd(text: string, start: number): { readonly at: number; readonly whole: boolean } {
  if (text[start] === '"') return { at: endOfString(text, start), whole: true };
  let at = start;
  if (/[-\d]/.test(text[start]!)) {
    while (at + 1 < text.length && NUMBER_PART.test(text[at + 1]!)) at++;
    return { at, whole: true };
  }
  const literal = ['true', 'false', 'null'].find((each) => each[0] === text[start]);
  if (literal === undefined) return { at, whole: false };
  while (at - start < literal.length && text[at] === literal[at - start]) at++;
  return at - start === literal.length ? { at: at - 1, whole: true } : { at, whole: false };
}

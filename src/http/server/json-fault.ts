import { parseErrorAt } from '../../json/parse-error.ts';

/** Escapes become text that no value begins with, in a step of its own: one pattern for both has no stack for very many of them. */
const ESCAPES = /\\["\\/bfnrtu]/g;
/** A string without escapes, or the part of it that is one: it always matches, so that no text takes long. */
const STRINGS = /"[^"\\]*"?/g;
/** No value begins here, after any blanks; `"` also is what is left of a name. */
const NO_VALUE = '[ \\t\\n\\r]*(?![ \\t\\n\\r]|["{[\\d-]|true|false|null)';
/** How far a literal that is none is one. */
const CUT_LITERAL = '(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)?';
/** Where a value has its place, but for an empty list; or an escape that is none. */
const FAULT = new RegExp(`(?:^|[,:]|\\[(?![ \\t\\n\\r]*\\]))${NO_VALUE}${CUT_LITERAL}|\\\\`);

/**
 * Describes text that JSON.parse refuses, with the place. V8 names the place itself, except where a value is missing or
 * something else is in its place, and of some escapes: there it quotes the text, or says only that the text ended. The text
 * before that is JSON.
 */
export function jsonFault(text: string, error: Error): string {
  if (typeof parseErrorAt(error) === 'number') return error.message;
  const plain = text.replace(ESCAPES, 'xx').replace(STRINGS, (string) => '"'.repeat(string.length));
  const fault = FAULT.exec(plain);
  const at = fault === null ? text.length : fault.index + fault[0].length;
  const character = text.codePointAt(at);
  if (character === undefined) return `Unexpected end of JSON input at ${lineAndColumn(text, at)}`;
  return `Unexpected token ${JSON.stringify(String.fromCodePoint(character))} in JSON at ${lineAndColumn(text, at)}`;
}

/** A position in V8's form, with line and column. */
function lineAndColumn(text: string, at: number): string {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `position ${at} (line ${lines.length} column ${lines.at(-1)!.length + 1})`;
}
